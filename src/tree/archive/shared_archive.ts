import { RecordfsError } from "../../base/errors.ts";
import { runAsync } from "../../io/concurrency/steps.ts";
import type { ByteSource } from "../../io/storage/byte_source.ts";
import { MemorySource } from "../../io/storage/memory_source.ts";
import { reopenSource } from "../../io/storage/open_sources.ts";
import type { Storage } from "../../io/storage/storage.ts";
import { sharedBytes } from "../shared_numbers.ts";
import {
  isReachedInThreads,
  storageInThread,
} from "../../io/storage/thread_storage.ts";

/** Location and version of an archive: plain data with which another thread opens it. */
export interface SharedArchive {
  readonly path: string;
  readonly size: number;
  readonly mtime: number;
  readonly bytes: Uint8Array | undefined;
}

/**
 * Describes an archive for other threads.
 *
 * @throws {RecordfsError} If its storage belongs to this thread only.
 */
export function shareArchive(
  archive: ByteSource,
  storage: Storage,
): SharedArchive {
  const inMemory = archive instanceof MemorySource;
  if (!inMemory && !isReachedInThreads(storage)) {
    throw new RecordfsError(
      "unsupported",
      `Cannot share ${archive.name} with other threads: it was opened ` +
        "from a storage of this thread. Serve it from the local disk, memory or a server",
      { path: archive.name },
    );
  }
  return {
    path: archive.name,
    size: archive.size,
    mtime: archive.mtime,
    bytes: inMemory ? sharedCopy(archive.bytes) : undefined,
  };
}

/**
 * Opens the archive of another thread.
 *
 * @throws {FormatError} If it has changed.
 */
export async function reopenArchive(
  { path, size, mtime, bytes }: SharedArchive,
): Promise<{ archive: ByteSource; storage: Storage }> {
  const storage = storageInThread(path);
  const archive = bytes === undefined
    ? await runAsync(reopenSource(storage, { path, size, mtime }))
    : new MemorySource(bytes, path, mtime);
  return { archive, storage };
}

function sharedCopy(bytes: Uint8Array): Uint8Array {
  if (bytes.buffer instanceof SharedArrayBuffer) return bytes;
  return sharedBytes(bytes);
}
