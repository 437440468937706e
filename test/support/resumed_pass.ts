/** Passes of a loader that is stopped, and goes on in another. */
import assert from "node:assert/strict";
import type { DataLoader } from "../../src/open/data/mod.ts";

/**
 * All that a loader gives, in its order. One that stops after a batch and another one that goes on there have to give
 * the same.
 *
 * @param make Makes a loader.
 * @param keysOf What tells the samples of a batch from others.
 * @param makeWhole Makes the one that is not stopped.
 */
export async function resumedPass<T, B, K>(
  make: () => DataLoader<T, B>,
  keysOf: (batch: B) => readonly K[],
  makeWhole: () => DataLoader<T, B> = make,
): Promise<K[]> {
  await using loader = makeWhole();
  const all: K[] = [];
  for await (const batch of loader) all.push(...keysOf(batch));
  await using stopped = make();
  const joined: K[] = [];
  for await (const batch of stopped) {
    joined.push(...keysOf(batch));
    break;
  }
  await using rest = make();
  rest.load(stopped.save());
  for await (const batch of rest) joined.push(...keysOf(batch));
  assert.deepEqual(joined, all);
  return all;
}
