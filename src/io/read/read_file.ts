import { FormatError } from "../../base/errors.ts";
import type { Steps } from "../concurrency/steps.ts";
import { LOCAL_DISK, type Storage } from "../storage/storage.ts";
import { readPart } from "./read_part.ts";
import { openFile } from "../storage/open_file.ts";

/**
 * Reads a whole regular file. Anything else, such as a pipe without a writer, is an error and does not block.
 *
 * @param most Limit of its size in bytes.
 * @throws {FormatError} With code `too-large` if it is larger.
 */
export function* readFile(
  path: string,
  storage: Storage = LOCAL_DISK,
  most = Infinity,
): Steps<Uint8Array<ArrayBuffer>> {
  const source = yield* openFile(storage, path);
  try {
    if (source.size > most) {
      throw new FormatError(
        "too-large",
        `Cannot read ${path}: it has ${source.size} bytes, more than the limit of ${most}`,
        { path, actual: source.size },
      );
    }
    return yield* readPart(source, 0, source.size);
  } finally {
    source.close();
  }
}
