import { abortable } from "../concurrency/abortable.ts";
import { LONGEST } from "./block_fetcher.ts";
import type { RemoteSource } from "./remote_source.ts";

/** Ranges in flight at a time. */
const PIECES = 4;

/**
 * Fetches the missing parts of an object into the cache. Calls `onProgress` with the number of further bytes that are
 * cached. Returns the number of bytes that could not be stored.
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
