import { FormatError } from "../../base/errors.ts";
import { type CellField, mediaOf } from "../../codecs/cells/cell_field.ts";
import { formOf } from "../../codecs/cells/column_type.ts";
import { suffixOfPath } from "../../codecs/cells/path_suffix.ts";
import { sniffedSuffix } from "../../codecs/values/sniffed_suffix.ts";
import type { Steps } from "../../io/concurrency/steps.ts";
import {
  type Cells,
  type DecodedRows,
  type RowFile,
  rowsOf,
} from "./row_format.ts";

/**
 * Returns the suffix of a column's cells: that of the file's tables, or else of its first rows. It is empty if neither
 * tells it, or if these rows are damaged: others may still be readable.
 *
 * @param decoded Returns the first rows of the column, and those decoded with them.
 */
export function* foundSuffix(
  file: RowFile,
  column: number,
  decoded: () => Steps<DecodedRows>,
): Steps<string> {
  const field = file.columns[column]!;
  if (formOf(field) !== "bytes") return "";
  const known = file.suffixes[column];
  if (known !== undefined || rowsOf(file) === 0) return known ?? "";
  try {
    return suffixIn(field, (yield* decoded()).rows);
  } catch (error) {
    if (error instanceof FormatError && error.code !== "changed") return "";
    throw error;
  }
}

/** {@linkcode foundSuffix} of a column that several files may have, by the first with rows. */
export function* sharedSuffix(
  files: readonly RowFile[],
  numbers: readonly number[],
  cells: Cells,
): Steps<string> {
  const having = [...files.keys()].filter((file) => numbers[file]! >= 0);
  const file = having.find((file) => rowsOf(files[file]!) > 0) ?? having[0]!;
  const column = numbers[file]!;
  return yield* foundSuffix(
    files[file]!,
    column,
    () => cells.decode(file, column, 0),
  );
}

/** Returns the suffix of values: that of a path with them, or else of the content of the first that is there. */
function suffixIn(field: CellField, rows: DecodedRows["rows"]): string {
  const media = mediaOf(field);
  let found: string | undefined;
  for (let i = 0; i < rows.length; i++) {
    const stored = rows.at(i);
    const path = media && (stored as Parts)?.[media.path];
    const suffix = path instanceof Uint8Array ? suffixOfPath(path) : "";
    if (suffix !== "") return suffix;
    const bytes = bytesOf(field, stored);
    if (bytes !== undefined) found ??= sniffedSuffix(bytes) ?? "";
    if (found !== undefined && media === undefined) break;
  }
  return found ?? "";
}

type Parts = Readonly<Record<number, unknown>> | null | undefined;

/** Returns the bytes of a cell that is not stored as JSON; `undefined` if it is null. */
export function bytesOf(
  field: CellField,
  stored: unknown,
): Uint8Array | undefined {
  const media = mediaOf(field);
  const bytes = media === undefined ? stored : (stored as Parts)?.[media.bytes];
  return bytes instanceof Uint8Array ? bytes : undefined;
}
