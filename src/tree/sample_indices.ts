import { IndexError } from "../base/errors.ts";
import type { WaitOptions } from "../io/storage/byte_source.ts";

interface BatchOptions extends WaitOptions {
  readonly batch?: number;
}

/** Whether a number is a valid index: an integer from 0 to `length - 1`. */
export function isIndex(index: number, length: number): boolean {
  return Number.isSafeInteger(index) && index >= 0 && index < length;
}

/**
 * Returns the requested sample indices, after range checks. `path` and `what` (the unit) are for the message.
 *
 * @throws {IndexError} If an index is out of range.
 */
export function requireIndices(
  index: number | Iterable<number>,
  length: number,
  path: () => string,
  what?: string,
): readonly number[] {
  const indices = typeof index === "number" ? [index] : [...index];
  for (const index of indices) {
    if (isIndex(index, length)) continue;
    throw new IndexError(index, length, path(), 0, what);
  }
  return indices;
}

/** Returns the name in messages of files whose samples are numbered across all of them. */
export function nameOfFiles(paths: readonly string[]): string {
  const [first = "the files"] = paths;
  const more = paths.length - 1;
  return more > 0
    ? `${first} and ${more} more file${more > 1 ? "s" : ""}`
    : first;
}

export async function* inBatches<T>(
  length: number,
  { batch = 256, signal }: BatchOptions,
  read: (indices: readonly number[], options: WaitOptions) => Promise<T>,
): AsyncGenerator<T, void, undefined> {
  for (let start = 0; start < length; start += batch) {
    const count = Math.min(batch, length - start);
    const indices = Array.from({ length: count }, (_, i) => start + i);
    yield await read(indices, { signal });
  }
}
