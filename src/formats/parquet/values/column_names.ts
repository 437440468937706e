import { encodeName } from "../../../base/names.ts";
import { escapedName } from "../../../tree/names/escaped_name.ts";
import { type Field, mediaOf } from "./schema.ts";

/** Longest name of a file, in bytes. */
const LONGEST = 255;

/** How a column's cells are shown: their own bytes, or as text. */
export type Shown = "bytes" | "media" | "text" | "json-text" | "json";

/** How cells of a column are shown as files. */
export function shownAs(column: Field): Shown {
  if (mediaOf(column) !== undefined) return "media";
  if (column.repetition === "REPEATED") return "json";
  switch (column.meaning.is) {
    case "bytes":
      return "bytes";
    case "text":
      return "text";
    case "json":
      return "json-text";
    default:
      return "json";
  }
}

/** What names of a column's files end in; `undefined` where its bytes have to say that. */
export function knownSuffix(
  shown: Shown,
  found: string | undefined,
): string | undefined {
  if (shown === "bytes" || shown === "media") return found;
  return shown === "text" ? ".txt" : ".json";
}

/** Names of columns as fields of rows: one that comes again has its number behind it. */
export function fieldNames(columns: readonly Field[]): string[] {
  return unique(columns.map(({ name }) => name), () => "");
}

/** Names of columns as files: each one name, which no other has. */
export function fileNames(
  columns: readonly Field[],
  suffixes: readonly string[],
): string[] {
  const names = columns.map(({ name }, i) => {
    const escaped = escapedName(name);
    const suffix = suffixes[i]!;
    const base = escaped.endsWith(suffix) && escaped.length > suffix.length
      ? escaped.slice(0, escaped.length - suffix.length)
      : escaped;
    return shortened(base, i);
  });
  return unique(names, (i) => suffixes[i]!);
}

/** Cuts a name that no file can have, and puts its number behind it. */
function shortened(name: string, number: number): string {
  const most = LONGEST - 32; // room for a suffix, and for what tells it from others
  if (encodeName(name).length <= most) return name;
  let short = name.slice(0, most);
  while (encodeName(short).length > most || !short.isWellFormed()) {
    short = short.slice(0, -1);
  }
  return `${short}~${number}`;
}

function unique(
  names: readonly string[],
  suffixOf: (i: number) => string,
): string[] {
  const taken = new Set<string>();
  return names.map((name, i) => {
    let full = name + suffixOf(i);
    for (let again = 2; taken.has(full); again++) {
      full = `${name}~${again}${suffixOf(i)}`;
    }
    taken.add(full);
    return full;
  });
}
