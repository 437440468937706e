import { FormatError, WriteError } from "../../../base/errors.ts";
import { FileLock } from "../../../io/write/file_lock.ts";
import type { Steps } from "../../../io/concurrency/steps.ts";
import { WritableFile } from "../../../io/write/writable_file.ts";
import { findTarget, syncDirectoryOf } from "../../../io/write/write_target.ts";
import { BagOutput } from "./bag_output.ts";
import { ENTRY, readEntry } from "../../../tree/limits/limit_entries.ts";
import { indexPath } from "../bag/bag.ts";

/**
 * A bag of generation 3, written in place: records first, then the index entries that name them. Records that a killed
 * process wrote ahead of the index must be appended again, and are compared.
 */
export class IndexedBagOutput extends BagOutput<3> {
  #lock: FileLock | undefined;

  /**
   * Opens a bag after its last complete record, or creates it.
   *
   * @throws {WriteError} If another writer has it open, or it is not of generation 3.
   * @throws {FormatError} If its index points past it, or is damaged.
   */
  static *open(path: string): Steps<IndexedBagOutput> {
    const idx = indexPath(path);
    yield* requireRegular(path);
    const hasIndex = yield* requireRegular(idx);
    const { file, lock } = yield* openLocked(path);
    let indexFile: WritableFile | undefined;
    try {
      const records = yield* file.size();
      if (records > 0 && !hasIndex && !(yield* requireRegular(idx))) {
        throw noIndex(path, idx);
      }
      indexFile = yield* WritableFile.openOrCreate(idx);
      const length = Math.floor((yield* indexFile.size()) / ENTRY);
      const end = yield* endOf(indexFile, length);
      requireSound(path, idx, length, end, records);
      const there = { records, index: ENTRY * length };
      yield* indexFile.truncate(there.index); // drops a partially written entry
      const output = new IndexedBagOutput(
        { generation: 3, path, file, indexFile, there },
      );
      output.#lock = lock;
      output.startAt(length, end);
      return output;
    } catch (error) {
      file.close();
      indexFile?.close();
      lock[Symbol.dispose]();
      throw error;
    }
  }

  /** Rewinds to an earlier record; those after it must be appended again. */
  *rewind(length: number): Steps<void> {
    if (length === this.length) return;
    this.startAt(length, yield* endOf(this.indexFile, length));
  }

  /**
   * Whether records were written that the index does not name, or a buffer is full. The index follows written records
   * at once, so a killed process loses no more than its buffers.
   */
  override get needsFlush(): boolean {
    const { records, index } = this;
    return records.written > this.indexed || records.isFull || index.isFull;
  }

  override *finish(): Steps<void> {
    yield* this.flush(true);
    yield* syncDirectoryOf(this.path);
  }

  /** Releases the lock last: a write still in progress would mix with another writer's. */
  override close(): void {
    let open = 2;
    const onClosed = () => {
      if (--open === 0) this.#lock?.[Symbol.dispose]();
    };
    this.file.close(onClosed);
    this.indexFile.close(onClosed);
  }
}

function* openLocked(
  path: string,
): Steps<{ file: WritableFile; lock: FileLock }> {
  for (;;) {
    const file = yield* WritableFile.openOrCreate(path);
    let lock: FileLock | undefined;
    try {
      lock = FileLock.take(path);
      const isOne = lock.identity === (yield* file.identity());
      if (isOne && lock.isOf(path)) return { file, lock };
    } catch (error) {
      file.close();
      lock?.[Symbol.dispose]();
      if ((error as { code?: unknown }).code !== "ENOENT") throw error;
      continue;
    }
    // Removed by a writer that was aborted before it had written anything.
    file.close();
    lock[Symbol.dispose]();
  }
}

function* endOf(index: WritableFile, length: number): Steps<number> {
  if (length === 0) return 0;
  const entry = new Uint8Array(ENTRY);
  yield* index.readAt(entry, ENTRY * (length - 1));
  return readEntry(entry, 0);
}

/** Whether a file exists. Refuses anything other than a regular file. */
function* requireRegular(path: string): Steps<boolean> {
  const { found } = yield* findTarget(path);
  if (found === undefined || found.isFile()) return found !== undefined;
  throw new WriteError(
    "not-a-file",
    `Cannot write ${path}: it exists and is not a regular file. Choose ` +
      "another name",
    { path },
  );
}

function noIndex(path: string, idx: string): WriteError {
  return new WriteError(
    "missing-index",
    `Cannot append to ${path}: it has no index ${idx}, so it is a bag ` +
      "of generation 1 or 2, which cannot be appended to, or the index is lost. Choose " +
      "another name; or, if the same records are to be appended again, make " +
      `${idx} as an empty file`,
    { path },
  );
}

function requireSound(
  path: string,
  idx: string,
  length: number,
  end: number,
  size: number,
): void {
  if (end > size) {
    throw new FormatError(
      "bad-index",
      `Cannot append to ${path}: the index ${idx} points past its end, to ` +
        `byte ${end} of ${size}: the bag is truncated. Cut the index after ` +
        "the last record that is whole (truncate -s)",
      { path, sample: length - 1, expected: size, actual: end },
    );
  }
  if (end >= length) return; // every record has a byte
  throw new FormatError(
    "bad-index",
    `Cannot append to ${path}: the index ${idx} is damaged: its ${length} records end at byte ${end}`,
    { path: idx, sample: length - 1, actual: end },
  );
}
