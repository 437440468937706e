import type { Steps } from "../concurrency/steps.ts";
import { FileSource } from "../storage/file_source.ts";
import { readPart } from "./read_part.ts";

/**
 * Reads a regular file whole. What is none, such as a pipe that nobody writes to, is an error and is not
 * waited for.
 *
 * @throws {RecordfsError} If it is no regular file, or can't be read.
 */
export function* readFile(path: string): Steps<Uint8Array<ArrayBuffer>> {
  const source = yield* FileSource.open(path);
  try {
    return yield* readPart(source, 0, source.size);
  } finally {
    source.close();
  }
}
