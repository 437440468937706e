import type { Steps } from "../concurrency/steps.ts";
import { LOCAL_DISK, type Storage } from "../storage/storage.ts";
import { readPart } from "./read_part.ts";
import { openFile } from "../storage/open_file.ts";

/**
 * Reads a regular file whole. What is none, such as a pipe that nobody writes to, is an error and is not
 * waited for.
 *
 * @throws {RecordfsError} If it is no regular file, or can't be read.
 */
export function* readFile(
  path: string,
  storage: Storage = LOCAL_DISK,
): Steps<Uint8Array<ArrayBuffer>> {
  const source = yield* openFile(storage, path);
  try {
    return yield* readPart(source, 0, source.size);
  } finally {
    source.close();
  }
}
