import assert from "node:assert/strict";
import fc from "../../support/random.ts";
import { DataLoader } from "../../../src/open/data/mod.ts";
import { BatchSampler } from "../../../src/open/data/mod.ts";
import { below, indicesOf } from "../support/batches.ts";
import { NumbersDataset } from "../support/numbers_dataset.ts";

const cases = fc.record({
  length: fc.nat({ max: 60 }),
  worldSize: fc.integer({ min: 1, max: 5 }),
  batchSize: fc.integer({ min: 1, max: 7 }),
  shuffle: fc.boolean(),
  seed: fc.nat(),
  epoch: fc.nat({ max: 1000 }),
});

/** Returns each rank's batches of an epoch. */
async function epochOf(
  { length, worldSize, epoch, ...options }: {
    length: number;
    worldSize: number;
    epoch: number;
    batchSize?: number;
    shuffle?: boolean;
    seed?: number;
    padRanks?: boolean;
    batchSampler?: BatchSampler;
  },
): Promise<number[][][]> {
  const dataset = new NumbersDataset(length);
  return await Promise.all(
    below(worldSize).map((rank) => {
      const loader = new DataLoader(dataset, { ...options, worldSize, rank });
      loader.setEpoch(epoch);
      return indicesOf(loader);
    }),
  );
}

Deno.test("ranks together get every sample once", async () => {
  await fc.assert(fc.asyncProperty(cases, async (options) => {
    const ranks = await epochOf(options);
    const all = ranks.flat(2).toSorted((a, b) => a - b);
    assert.deepEqual(all, below(options.length));
  }));
});

Deno.test("padded ranks get equally many, and every sample at least once", async () => {
  await fc.assert(fc.asyncProperty(cases, async (options) => {
    const ranks = await epochOf({ ...options, padRanks: true });
    const each = Math.ceil(options.length / options.worldSize);
    for (const rank of ranks) assert.equal(rank.flat().length, each);
    assert.equal(new Set(ranks.flat(2)).size, options.length);
  }));
});

Deno.test("ranks share the batches of a batch sampler", async () => {
  const batchSampler = new BatchSampler(below(10), { batchSize: 2 });
  const options = { length: 10, worldSize: 2, epoch: 0, batchSampler };
  assert.deepEqual(await epochOf(options), [
    [[0, 1], [4, 5], [8, 9]],
    [[2, 3], [6, 7]],
  ]);
  assert.deepEqual(await epochOf({ ...options, padRanks: true }), [
    [[0, 1], [4, 5], [8, 9]],
    [[2, 3], [6, 7], [0, 1]],
  ]);
});

Deno.test("a state saved by one rank resumes every rank", async () => {
  const dataset = new NumbersDataset(24);
  const options = { batchSize: 3, shuffle: true, worldSize: 2 };
  const first = new DataLoader(dataset, { ...options, rank: 0 });
  const second = new DataLoader(dataset, { ...options, rank: 1 });
  const whole = await indicesOf(second);
  await indicesOf(first, 2);
  second.load(first.save());
  assert.deepEqual(await indicesOf(second), whole.slice(2));
});

Deno.test("a state saved by a rank after its last batch resumes the other ranks", async () => {
  await fc.assert(
    fc.asyncProperty(cases, async ({ length, ...options }) => {
      const dataset = new NumbersDataset(length);
      const { worldSize, epoch, ...others } = options;
      const loaders = below(worldSize).map((rank) =>
        new DataLoader(dataset, { ...others, worldSize, rank })
      );
      const wholes = await epochOf({ length, ...options });
      const most = Math.max(...wholes.map((batches) => batches.length));
      for (let step = 0; step <= most; step++) {
        for (const saver of loaders) {
          saver.setEpoch(epoch);
          await indicesOf(saver, step);
          const state = saver.save();
          for (const [rank, loader] of loaders.entries()) {
            loader.load(structuredClone(state));
            const left = wholes[rank]!.slice(step);
            if (left.length === 0) continue; // these belong to the next epoch
            assert.deepEqual(await indicesOf(loader), left);
          }
        }
      }
    }),
    { numRuns: 20 },
  );
});
