import { abortable } from "../concurrency/abortable.ts";
import { LONGEST } from "./block_fetcher.ts";
import type { RemoteSource } from "./remote_source.ts";

/** Pieces of an object that are fetched at a time. */
const PIECES = 4;

/**
 * Fetches what is not there yet of an object, to be kept.
 *
 * @param onProgress Told how many bytes more are there, by and by.
 * @returns How many bytes could not be kept.
 */
export async function fillCache(
  { fetcher, size }: RemoteSource,
  onProgress: (bytes: number) => void,
  signal: AbortSignal | undefined,
): Promise<number> {
  let next = 0;
  const fillSome = async () => {
    while (next < size) {
      const offset = next;
      const length = Math.min(LONGEST, size - offset);
      next += length;
      signal?.throwIfAborted();
      await abortable(Promise.resolve(fetcher.fetch(offset, length)), signal);
      onProgress(length);
    }
  };
  await Promise.all(Array.from({ length: PIECES }, fillSome));
  return fetcher.missing;
}
