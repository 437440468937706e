import { IndexError } from "../base/errors.ts";
import type { WaitOptions } from "../io/storage/byte_source.ts";

/** How samples are gone through in batches. */
interface BatchOptions extends WaitOptions {
  /** How many are read in one go; 256 unless given. */
  readonly batch?: number;
}

/** True if a number counts something of which there is so much, from 0. */
export function isIndex(index: number, length: number): boolean {
  return Number.isSafeInteger(index) && index >= 0 && index < length;
}

/**
 * The samples that somebody asks for, one or several.
 *
 * @param length How many there are.
 * @param path Where they are, for the message.
 * @param what What is counted.
 * @throws {IndexError} If there is not one of each.
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

/** What messages call files whose samples count through all of them. */
export function nameOfFiles(paths: readonly string[]): string {
  const [first = "the files"] = paths;
  const more = paths.length - 1;
  return more > 0
    ? `${first} and ${more} more file${more > 1 ? "s" : ""}`
    : first;
}

/** All samples in their order, a batch at a time. */
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
