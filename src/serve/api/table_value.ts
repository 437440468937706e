import type { Steps } from "../../io/concurrency/steps.ts";
import type { NodeId } from "../../tree/tree.ts";
import { PACKAGES } from "../../packages.ts";
import { headOf } from "../head_of.ts";
import type { Served } from "../served.ts";
import { ServeError } from "../serve_error.ts";
import { waitFor } from "../wait_for.ts";
import type { TableValue } from "./value_messages.ts";

/** Rows of a page, columns of a row, and characters of a field. */
const ROWS = 200;
const MOST_COLUMNS = 200;
const LONGEST_FIELD = 1000;
/** Bytes that are looked through for a page, at first and at most: rows have no places that are known. */
const FIRST = 1 << 18;
const MOST = 64 << 20;

/** A page of a CSV or TSV file, from a row on; the first line names the columns. */
export function* tableValue(
  served: Served,
  node: NodeId,
  name: string,
  size: number,
  start: number,
): Steps<TableValue> {
  const delimiter = /\.tsv$/i.test(name) ? "\t" : ",";
  const wanted = start + ROWS + 2; // the first line, and one that tells that there are more
  for (let length = FIRST;; length *= 4) {
    const taken = Math.min(length, size, MOST);
    const bytes = yield* headOf(served, node, taken);
    const isWhole = taken === size;
    const text = new TextDecoder().decode(bytes);
    // What is cut may end in half a row.
    const lines = isWhole ? text : text.slice(0, text.lastIndexOf("\n") + 1);
    const rows = yield* waitFor(() => parse(lines, delimiter, wanted));
    if (rows.length < wanted && !isWhole) {
      if (taken < MOST) continue;
      if (rows.length <= start + 1) {
        throw new ServeError(
          "too-large",
          `Rows of the first ${MOST} bytes of a table are shown; fetch the file for the others`,
        );
      }
    }
    const page = rows.slice(start + 1, start + 1 + ROWS);
    return {
      kind: "table",
      columns: shortened(rows[0] ?? []),
      rows: page.map(shortened),
      start,
      hasMore: rows.length > start + 1 + page.length,
    };
  }
}

async function parse(
  text: string,
  delimiter: string,
  to: number,
): Promise<string[][]> {
  const { parse }: typeof import("csv-parse/sync") = await import(
    `${PACKAGES.csvParse}/sync`
  );
  return parse(text, {
    bom: true,
    delimiter,
    to,
    relax_column_count: true,
    relax_quotes: true,
    skip_empty_lines: true,
  });
}

function shortened(row: readonly string[]): string[] {
  return row.slice(0, MOST_COLUMNS).map((field) =>
    field.length <= LONGEST_FIELD
      ? field
      : `${field.slice(0, LONGEST_FIELD).toWellFormed()}…`
  );
}
