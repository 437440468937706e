// deno-lint-ignore-file no-console -- a program that prints its result
/**
 * Runs passes of a `DataLoader` over an FFRecord file, local or remote. Prints one line of JSON.
 *
 *   deno run -A bench/remote/loader_pass.ts LOCATION CACHE_DIRECTORY WORKERS PASSES BATCHES
 *
 * @module
 */
import { DataLoader, FFRecordDataset } from "../../src/open/data/mod.ts";

const [location, directory, workers, passes, batches] = Deno.args;
const batchSize = 64;
using dataset = await FFRecordDataset.open(location!, {
  remote: { cache: { directory } },
});
const loader = new DataLoader(dataset, {
  batchSize,
  shuffle: true,
  seed: 1,
  dropLast: true,
  numWorkers: Number(workers),
  prefetchFactor: 4,
  persistentWorkers: Number(workers) > 0,
});
const seconds: number[] = [];
for (let pass = 0; pass < Number(passes); pass++) {
  const start = performance.now();
  let samples = 0;
  for await (const batch of loader) {
    samples += batch.length;
    loader.recycle(batch);
    if (samples === Number(batches) * batchSize) break;
  }
  seconds.push((performance.now() - start) / 1000);
}
console.log(JSON.stringify({ seconds, samples: Number(batches) * batchSize }));
await loader.close();
