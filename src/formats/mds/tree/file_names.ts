import { FormatError } from "../../../base/errors.ts";
import { encodeName } from "../../../base/names.ts";
import { escapedName } from "../../../tree/names/escaped_name.ts";
import type { FieldNames } from "../../../tree/samples/rows_tree.ts";
import type { Column } from "../read/index_file.ts";

/** Longest name of a file, in bytes. */
const LONGEST = 255;

/** The names of the files that a sample is shown as, one for each of its columns, and found by them. */
export interface FileNames extends FieldNames {
  /** The columns that are lists, and shown as directories. */
  readonly lists: readonly number[];
}

/**
 * Names files: by the column, and a suffix that says what is in it, unless the column's name ends so already. What no
 * name may have is written as in URLs. Where a name is taken, the suffix is added once more.
 *
 * @param path The index, for messages.
 * @throws {FormatError} If a name is too long for a file.
 */
export function fileNames(
  columns: readonly Column[],
  path: string,
): FileNames {
  const byName = new Map<string, number>();
  const names: Uint8Array[] = [];
  const lists: number[] = [];
  for (const [column, { name, encoding }] of columns.entries()) {
    const bare = escapedName(name);
    let file = hasSuffix(bare, encoding.suffix)
      ? bare
      : `${bare}${encoding.suffix}`;
    const again = encoding.suffix ||
      (encoding.list === undefined ? ".bytes" : ".list");
    while (byName.has(file)) file = `${file}${again}`;
    const bytes = encodeName(file);
    if (bytes.length > LONGEST) {
      throw new FormatError(
        "unsafe-name",
        `${path}: the column '${name}' can't be a file: its name would have ${bytes.length} bytes, and ${LONGEST} is ` +
          "the most; read it by MDSReader",
        { path },
      );
    }
    byName.set(file, column);
    names.push(bytes);
    if (encoding.list !== undefined) lists.push(column);
  }
  return { bytes: names, byName, lists };
}

function hasSuffix(name: string, suffix: string): boolean {
  const lower = name.toLowerCase();
  return lower.length > suffix.length && suffix !== "" &&
    (lower.endsWith(suffix) || suffix === ".jpg" && lower.endsWith(".jpeg"));
}
