/** Resumes an interrupted pass of a loader in another loader. */
import assert from "node:assert/strict";
import type { DataLoader } from "../../src/open/data/mod.ts";

/**
 * Returns everything that a loader yields, in order. Asserts that a loader stopped after one batch, and another that
 * resumes there, yield the same.
 *
 * @param make Creates a loader.
 * @param keysOf Returns keys that identify the samples of a batch.
 * @param makeWhole Creates the uninterrupted loader.
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
