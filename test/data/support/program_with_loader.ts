/** Program whose threads import a function from it. */
import { DataLoader } from "../../../src/open/data/mod.ts";
import { NumbersDataset } from "./numbers_dataset.ts";

/** Collates samples into their number. */
export function count(samples: readonly unknown[]): number {
  return samples.length;
}

const loader = new DataLoader(new NumbersDataset(5), {
  batchSize: 2,
  numWorkers: 1,
  collate: { module: import.meta.url, name: "count" },
});
for await (const _ of loader);
