import { PACKAGES } from "../../base/packages.ts";

type Parse = typeof import("csv-parse/sync")["parse"];

let parse: Parse | undefined;

/** Loads the package that parses quoted cells, which is downloaded once. */
export async function loadCsv(): Promise<void> {
  parse ??= (await import(`${PACKAGES.csvParse}/sync`) as { parse: Parse })
    .parse;
}

export function isCsvLoaded(): boolean {
  return parse !== undefined;
}

/**
 * Splits rows of CSV into cells. In a cell that does not begin with one, quotes are characters, as in Python.
 * {@linkcode loadCsv} must have ended.
 *
 * @param rows Texts without the newlines that end them.
 * @returns The cells, or `undefined` if a quote is not closed or text follows a closing quote.
 */
export function cellsOf(
  rows: readonly string[],
  delimiter: string,
): (readonly string[] | undefined)[] {
  const quoted = rows.filter((row) => row.includes('"'));
  // A call takes as long as parsing a dozen rows.
  const parsed = quoted.length > 0 ? parseAll(quoted, delimiter) : [];
  let next = 0;
  return rows.map((row) =>
    row.includes('"') ? parsed[next++] : row.split(delimiter)
  );
}

function parseAll(
  rows: readonly string[],
  delimiter: string,
  areLoose = false,
): (readonly string[] | undefined)[] {
  let isLoose = false;
  try {
    const parsed: string[][] = parse!(rows.join("\n"), {
      delimiter,
      "record_delimiter": "\n",
      "relax_column_count": true,
      "relax_quotes": areLoose,
    });
    if (parsed.length === rows.length) return parsed;
  } catch (error) {
    isLoose = (error as { code?: unknown }).code === "INVALID_OPENING_QUOTE";
  }
  if (rows.length > 1) {
    const middle = rows.length >> 1;
    const halves = [rows.slice(0, middle), rows.slice(middle)];
    return halves.flatMap((half) => parseAll(half, delimiter));
  }
  return isLoose ? parseAll(rows, delimiter, true) : [undefined];
}

/** Unique names of columns. */
export interface ColumnNames {
  readonly names: readonly string[];
  /** Sentences about names that are not those of the header. */
  readonly notes: readonly string[];
}

/** Names columns by the cells of a header: those without a name, and those whose name is taken, get another one. */
export function columnNames(header: readonly string[]): ColumnNames {
  const taken = new Set(header);
  const names = new Set<string>();
  const notes: string[] = [];
  for (const [i, cell] of header.entries()) {
    let name = cell;
    if (cell === "" || names.has(cell)) {
      const base = cell || `column${i + 1}`;
      name = base;
      for (let n = 2; taken.has(name); n++) name = `${base}~${n}`;
      notes.push(
        `column ${i + 1} has ${
          cell === "" ? "no name" : `the name '${cell}' again`
        }, and is called '${name}'`,
      );
    }
    names.add(name);
    taken.add(name);
  }
  return { names: [...names], notes };
}
