import { asLabel } from "../../../data/split/as_label.ts";
import { RecordfsError } from "../../../base/errors.ts";
import { LOCAL_DISK } from "../../../io/storage/storage.ts";
import { areOpen } from "../../../tree/tree.ts";
import type { VirtualFs } from "../../../tree/vfs/virtual_fs.ts";
import { ParquetReader } from "../read/parquet_reader.ts";
import { sharedColumns } from "../read/shared_columns.ts";
import { RowTree } from "../tree/row_tree.ts";

/**
 * The labels of rows: the values of a column, which has no lists or bytes.
 *
 * @returns `undefined` where a part of the files is shown as if it were all.
 * @throws {RecordfsError} With code `no-label` if there is no such column.
 */
export function columnLabels(
  container: VirtualFs,
  label: string,
  signal: AbortSignal | undefined,
): AsyncGenerator<string, void, undefined> | undefined {
  const { tree, checkData, location } = container;
  if (!(tree instanceof RowTree) || !areOpen(tree.sources)) return undefined;
  const names = sharedColumns(tree.table.files).map(({ name }) => name);
  if (!names.includes(label)) {
    throw noLabel(location, label, `no column '${label}'`, names);
  }
  const files = { sources: tree.sources, table: tree.table };
  // It lies over what the container has opened, and is not closed.
  const columns = [label];
  const reader = new ParquetReader(files, LOCAL_DISK, { checkData, columns });
  return read(reader, location, label, signal);
}

async function* read(
  reader: ParquetReader,
  location: string,
  label: string,
  signal: AbortSignal | undefined,
): AsyncGenerator<string, void, undefined> {
  let row = 0;
  for await (const rows of reader.batches({ batch: 4096, signal })) {
    for (const { [label]: value } of rows) {
      const isPlain = typeof value !== "object";
      if (!isPlain) {
        const what = value === null ? "none" : "bytes, or parts";
        throw noLabel(location, label, `${what} in '${label}' of row ${row}`);
      }
      yield asLabel(value, row, () => reader.fileOf(row), label);
      row++;
    }
  }
}

function noLabel(
  path: string,
  label: string,
  what: string,
  names?: readonly string[],
): RecordfsError {
  const way = names === undefined || names.length === 0
    ? "one that has a text or a number in all rows"
    : `one of ${names.join(", ")}`;
  return new RecordfsError(
    "no-label",
    `${path} has ${what} to stratify by: give ${way}`,
    { path, actual: label },
  );
}
