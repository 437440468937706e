/** Behaviour that ffrecord's own tests of its loader check, reimplemented from their description. */
import assert from "node:assert/strict";
import { writePickle } from "../../../src/codecs/pickle/write_pickle.ts";
import {
  ConcatDataset,
  FFRecordDataset,
  Subset,
} from "../../../src/open/data/datasets.ts";
import { DataLoader } from "../../../src/open/data/mod.ts";
import { ffrBytes } from "../../support/ffrecord/make_ffr.ts";
import { LONG } from "../../support/long.ts";
import { withTempDir } from "../../support/paths.ts";
import { below } from "../support/batches.ts";

type Pair = [number, number];
type PairLoader = DataLoader<Pair, [Float64Array, Float64Array]>;

/** Writes samples; sample `i` is the pickled pair of `2 i` and `3 i`. */
async function writePairs(path: string, count: number): Promise<void> {
  const samples = below(count).map((i) => writePickle([i * 2, i * 3]));
  await Deno.writeFile(path, ffrBytes(samples));
}

function openPairs(path: string): Promise<FFRecordDataset<Pair>> {
  const module = import.meta.resolve("../support/pickled_pairs.ts");
  return FFRecordDataset.open<Pair>(path, { process: { module } });
}

async function pairsOf(loader: PairLoader): Promise<number[][][]> {
  const batches: number[][][] = [];
  for await (const columns of loader) {
    batches.push(columns.map((column) => [...column]));
  }
  return batches;
}

for (const numWorkers of [0, LONG ? 4 : 2]) {
  Deno.test(`processed samples come in batches of columns, ${numWorkers} workers`, async () => {
    await withTempDir(async (dir) => {
      await writePairs(`${dir}/pairs.ffr`, 100);
      using dataset = await openPairs(`${dir}/pairs.ffr`);
      await using loader = new DataLoader(dataset, {
        batchSize: 8,
        numWorkers,
      });
      assert.equal(loader.length, 13);
      const batches = await pairsOf(loader);
      assert.equal(batches.length, 13);
      batches.forEach(([doubles, triples], step) => {
        const indices = below(100).slice(step * 8, step * 8 + 8);
        assert.deepEqual(doubles, indices.map((i) => i * 2));
        assert.deepEqual(triples, indices.map((i) => i * 3));
      });
    });
  });

  for (const shuffle of [true, false]) {
    Deno.test(`setStep skips batches: shuffle ${shuffle}, ${numWorkers} workers`, async () => {
      await withTempDir(async (dir) => {
        for (const batchSize of [1, 4]) {
          const path = `${dir}/${batchSize}.ffr`;
          await writePairs(path, batchSize * 125);
          using dataset = await openPairs(path);
          const options = { batchSize, shuffle, seed: 12345 };
          const whole = await pairsOf(new DataLoader(dataset, options));
          await using loader = new DataLoader(dataset, {
            ...options,
            numWorkers,
          });
          assert.equal(loader.length, 125);
          loader.setStep(5);
          assert.equal(loader.length, 120);
          assert.deepEqual(await pairsOf(loader), whole.slice(5));
          loader.setStep(0);
          assert.equal(loader.length, 125);
        }
      });
    });
  }

  Deno.test(`joined datasets and subsets, ${numWorkers} workers`, async () => {
    await withTempDir(async (dir) => {
      await writePairs(`${dir}/a.ffr`, 30);
      await writePairs(`${dir}/b.ffr`, 20);
      using joined = new ConcatDataset([
        await openPairs(`${dir}/a.ffr`),
        await openPairs(`${dir}/b.ffr`),
      ]);
      const indices = [49, 3, 30, 29, 3, 0, 31];
      using some = new Subset(joined, indices);
      await using loader = new DataLoader(some, { batchSize: 4, numWorkers });
      assert.equal(loader.length, 2);
      const doubles = (await pairsOf(loader)).flatMap(([column]) => column);
      assert.deepEqual(doubles, indices.map((i) => 2 * (i % 30)));
    });
  });

  Deno.test(`a damaged sample is named by its index in the dataset and its file, ${numWorkers} workers`, async () => {
    await withTempDir(async (dir) => {
      await writePairs(`${dir}/a.ffr`, 30);
      await writePairs(`${dir}/b.ffr`, 20);
      const bytes = await Deno.readFile(`${dir}/b.ffr`);
      bytes[bytes.length - 1]! ^= 1; // damages the last sample
      await Deno.writeFile(`${dir}/b.ffr`, bytes);
      using joined = new ConcatDataset([
        await openPairs(`${dir}/a.ffr`),
        await openPairs(`${dir}/b.ffr`),
      ]);
      using some = new Subset(joined, [0, 1, 2, 49, 3]);
      await using loader = new DataLoader(some, { batchSize: 5, numWorkers });
      await assert.rejects(loader[Symbol.asyncIterator]().next(), {
        name: "BatchError",
        code: "sample-failed",
        step: 0,
        indices: [0, 1, 2, 3, 4],
        sample: 3,
        path: `${dir}/b.ffr`,
      });
    });
  });
}
