/** Passes over loaders, for benchmarks. */
import type { DataLoader } from "../../src/open/data/mod.ts";

/**
 * Takes all batches of an epoch.
 *
 * @param lengthOf How many samples a batch has.
 * @param recycles Whether batches are given back.
 * @returns How many samples there were.
 */
export async function countSamples<B>(
  loader: DataLoader<unknown, B>,
  lengthOf: (batch: B) => number,
  recycles = false,
): Promise<number> {
  let count = 0;
  for await (const batch of loader) {
    count += lengthOf(batch);
    if (recycles) loader.recycle(batch);
  }
  return count;
}

/**
 * How many a second of what it counts a pass gives, one pass after the other, and none counted of the first: it
 * takes memory that the machine's host took back while others had their turn, as a new process's first does.
 */
export async function passRates(
  passes: number,
  pass: () => Promise<number>,
): Promise<number[]> {
  await pass();
  const rates: number[] = [];
  while (rates.length < passes) {
    const start = performance.now();
    rates.push(await pass() / (performance.now() - start) * 1000);
  }
  return rates;
}
