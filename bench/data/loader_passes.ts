/** Passes over loaders, for benchmarks. */
import type { DataLoader } from "../../src/open/data/mod.ts";

/**
 * Takes all batches of an epoch.
 *
 * @param lengthOf Returns the number of samples in a batch.
 * @param recycles Whether to give batches back to the loader.
 * @returns Number of samples.
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
 * Returns the rate of each pass in counted items a second. The first pass does not count: it allocates memory again
 * that the host reclaimed while other contenders ran, just as the first pass of a new process does.
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
