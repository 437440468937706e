import type { Steps } from "../concurrency/steps.ts";
import { LOCAL_DISK, type Storage } from "../storage/storage.ts";
import { readPart } from "./read_part.ts";
import { openFile } from "../storage/open_file.ts";

/** Reads a whole regular file. Anything else, such as a pipe without a writer, is an error and does not block. */
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
