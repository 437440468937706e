import { Buffer } from "node:buffer";
import { PACKAGES } from "../../base/packages.ts";
import type { TableValue } from "../api/value_messages.ts";
import type { Coding } from "./shown_value.ts";
import { inUtf8, named } from "./text_encoding.ts";

/** Maximum rows of a page, columns of a row, and characters of a field. */
const ROWS = 200;
const MOST_COLUMNS = 200;
const LONGEST_FIELD = 1000;
/** Maximum bytes of a line and of a row: a longer one means an unclosed quote. */
const LONGEST_ROW = 1 << 20;
/** Time limit for scanning to a page, in milliseconds. */
const LONGEST_WORK = 15_000;

/**
 * Returns a page of a CSV or TSV file, from a row on. The first line names the columns.
 *
 * @param file The file or its beginning, because row offsets are unknown.
 * @returns The page, or `undefined` if it extends beyond the bytes.
 * @throws If the bytes are not such a table.
 */
export async function tablePage(
  file: Uint8Array<ArrayBuffer>,
  { delimiter, start, isWhole, isLast }: Extract<Coding, { kind: "table" }>,
): Promise<TableValue | undefined> {
  const { parse }: typeof import("csv-parse/sync") = await import(
    `${PACKAGES.csvParse}/sync`
  );
  const { bytes, encoding } = inUtf8(file);
  const long = longLineIn(bytes);
  // Truncated data may end within a row.
  const end = long ?? (isWhole ? bytes.length : bytes.lastIndexOf(0x0a) + 1);
  const part = Buffer.from(bytes.buffer, bytes.byteOffset, end);
  const from = start + 1; // after the first line
  const until = performance.now() + LONGEST_WORK;
  let columns: string[] = [];
  const rows: string[][] = [];
  let seen = 0;
  parse(part, {
    bom: true,
    delimiter,
    to: from + ROWS + 1, // one more row shows whether more follow
    max_record_size: LONGEST_ROW,
    relax_column_count: true,
    relax_quotes: true,
    skip_empty_lines: true,
    on_record(row: string[]) {
      const at = seen++;
      if (at % 1024 === 0 && performance.now() > until) {
        throw new RangeError(
          `looking for row ${start} takes more than ${LONGEST_WORK / 1000} s`,
        );
      }
      if (at === 0) columns = shortened(row);
      else if (at >= from && rows.length < ROWS) rows.push(shortened(row));
      return null; // discarded by the parser
    },
  });
  const hasMore = seen > from + rows.length;
  if (!hasMore && long !== undefined) {
    throw new RangeError(
      `the line at byte ${long} has more than ${LONGEST_ROW} bytes`,
    );
  }
  if (!hasMore && !isWhole && !isLast) return undefined;
  if (rows.length === 0 && !isWhole) {
    throw new RangeError(
      `only rows of the first ${file.length} bytes of a table are shown`,
    );
  }
  return {
    kind: "table",
    ...named(encoding),
    columns,
    rows,
    start,
    hasMore,
  };
}

/** Returns the offset of the first line too long for a row, if any. */
function longLineIn(bytes: Uint8Array): number | undefined {
  for (let start = 0; bytes.length - start > LONGEST_ROW;) {
    const end = bytes.subarray(start, start + LONGEST_ROW).lastIndexOf(0x0a);
    if (end < 0) return start;
    start += end + 1;
  }
  return undefined;
}

function shortened(row: readonly string[]): string[] {
  return row.slice(0, MOST_COLUMNS).map((field) =>
    field.length <= LONGEST_FIELD
      ? field
      : `${field.slice(0, LONGEST_FIELD).toWellFormed()}…`
  );
}
