import type { DataLoader } from "../../../src/open/data/mod.ts";

/** Loader of a `NumbersDataset`, whose batches have the columns index, seed and epoch. */
export type NumbersLoader = DataLoader<
  [number, number, number],
  [Float64Array, Float64Array, Float64Array]
>;

/** Returns the indices of a loader's batches, to the end of the epoch or a given number of them. */
export async function indicesOf(
  loader: NumbersLoader,
  most = Infinity,
): Promise<number[][]> {
  const batches: number[][] = [];
  if (most === 0) return batches;
  for await (const [indices] of loader) {
    batches.push([...indices]);
    if (batches.length === most) break;
  }
  return batches;
}

/** Returns all whole numbers below `end`. */
export function below(end: number): number[] {
  return Array.from({ length: end }, (_, i) => i);
}
