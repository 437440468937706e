import type { OpenFile } from "./directory.ts";

/**
 * Fills `into` from where a file stands, or reads to its end.
 *
 * @returns How many bytes were read: fewer only at the end.
 */
export function readFull(
  file: OpenFile,
  into: Uint8Array<ArrayBuffer>,
): number {
  let done = 0;
  while (done < into.length) {
    const got = file.read(into.subarray(done));
    if (got === 0) break;
    done += got;
  }
  return done;
}
