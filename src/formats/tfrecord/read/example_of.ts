import { FormatError } from "../../../base/errors.ts";
import { decodeExample, type TFExample } from "../proto/example.ts";
import { WireError } from "../proto/wire.ts";
import type { RecordTable } from "./record_files.ts";

/**
 * Decodes a record.
 *
 * @throws {FormatError} If it is no `Example` or `SequenceExample`.
 */
export function exampleOf(
  table: RecordTable,
  record: number,
  bytes: Uint8Array<ArrayBuffer>,
): TFExample {
  return orNoExample(table, record, () => decodeExample(bytes));
}

/** Does something with a record's bytes, and says of which record they are no example. */
export function orNoExample<T>(
  table: RecordTable,
  record: number,
  work: () => T,
): T {
  try {
    return work();
  } catch (cause) {
    if (!(cause instanceof WireError)) throw cause;
    const { path } = table.files[table.fileOf(record)]!;
    throw new FormatError(
      "bad-value",
      `${path}: record ${
        table.numberOf(record)
      } is no Example of TensorFlow (${cause.message}): read its bytes`,
      { path, sample: record, cause },
    );
  }
}
