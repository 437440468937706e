import type { Steps } from "../../io/concurrency/steps.ts";
import type { ByteSource } from "../../io/storage/byte_source.ts";
import { openIfThere } from "../../io/storage/open_file.ts";
import type { Storage } from "../../io/storage/storage.ts";
import { ENTRY } from "../../tree/limits/limit_entries.ts";
import { LimitedRecords } from "../../tree/limits/limited_records.ts";
import {
  checkTable,
  lastEnd,
  tableAtTail,
} from "../../tree/limits/table_at_tail.ts";
import type { RangeFile } from "../../tree/samples/range_format.ts";
import { isCompressed, limitsPath } from "./layout.ts";

/** An opened file. */
export interface BagzFile extends RangeFile {
  readonly records: LimitedRecords;
  readonly isCompressed: boolean;
}

/**
 * Opens a file: its limits are in a file next to it, or else at its tail (`src/internal/records_limits.cc`).
 *
 * @throws {FormatError} If it does not end in limits, and there is no such file.
 */
export function* openBagzFile(
  source: ByteSource,
  { storage }: { readonly storage: Storage },
): Steps<BagzFile> {
  const { name: path, size, mtime } = source;
  const records = yield* openRecords(source, storage);
  const { length, index } = records;
  const end = yield* lastEnd(records);
  const isWhole = index === source ||
    index.size === length * ENTRY && end === size;
  return {
    ...{ path, size, mtime, length, records, isCompressed: isCompressed(path) },
    kind: "records",
    facts: { records: length },
    damage: isWhole ? undefined : {
      code: "truncated",
      message:
        `Cannot read all of ${path}: the ${length} limits in ${index.name}, of ${index.size} bytes, end at byte ${end} ` +
        `of ${size}: one of both is truncated. Download both again`,
    },
  };
}

function* openRecords(
  source: ByteSource,
  storage: Storage,
): Steps<LimitedRecords> {
  const path = limitsPath(source.name);
  const limits = yield* openIfThere(storage, path);
  if (limits !== undefined) {
    const length = Math.floor(limits.size / ENTRY);
    return new LimitedRecords(length, source.size, source, limits);
  }
  if (source.size === 0) return new LimitedRecords(0, 0, source);
  const otherwise = `; limits in a file of their own need ${path}`;
  const end = yield* tableAtTail(source, "file of Bagz", otherwise);
  const length = (source.size - end) / ENTRY;
  const records = new LimitedRecords(length, end, source, source, end);
  yield* checkTable(records, otherwise);
  return records;
}
