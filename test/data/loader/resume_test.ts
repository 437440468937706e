import assert from "node:assert/strict";
import fc from "../../support/random.ts";
import {
  DataLoader,
  type LoaderOptions,
  type LoaderState,
} from "../../../src/open/data/mod.ts";
import {
  BatchSampler,
  BlockShuffleSampler,
  RandomSampler,
  SequentialSampler,
} from "../../../src/open/data/mod.ts";
import { LONG } from "../../support/long.ts";
import { indicesOf } from "../support/batches.ts";
import { NumbersDataset } from "../support/numbers_dataset.ts";

const EPOCHS = 3;

/** Returns the batches of some epochs without interruption. */
async function uninterrupted(
  dataset: NumbersDataset,
  options: { batchSize: number; shuffle: boolean; seed: number },
): Promise<number[][]> {
  const loader = new DataLoader(dataset, options);
  const batches: number[][] = [];
  while (loader.epoch < EPOCHS) batches.push(...await indicesOf(loader));
  return batches;
}

const cases = fc.record({
  length: fc.integer({ min: 1, max: 40 }),
  batchSize: fc.integer({ min: 1, max: 7 }),
  shuffle: fc.boolean(),
  seed: fc.nat(),
  stops: fc.array(fc.integer({ min: 0, max: 12 }), { maxLength: 6 }),
});

function resumesAnywhere(workers: (part: number) => number) {
  return async (
    { length, batchSize, shuffle, seed, stops }: {
      length: number;
      batchSize: number;
      shuffle: boolean;
      seed: number;
      stops: number[];
    },
  ) => {
    const dataset = new NumbersDataset(length);
    const options = { batchSize, shuffle, seed };
    const whole = await uninterrupted(dataset, options);
    const joined: number[][] = [];
    let saved: string | undefined;
    for (let part = 0; joined.length < whole.length; part++) {
      const numWorkers = workers(part);
      await using loader = new DataLoader(dataset, { ...options, numWorkers });
      if (saved !== undefined) loader.load(JSON.parse(saved) as LoaderState);
      const most = stops[part] ?? Infinity;
      const before = joined.length;
      // The loader is killed here: only the saved state remains.
      while (joined.length - before < most && loader.epoch < EPOCHS) {
        joined.push(...await indicesOf(loader, most - joined.length + before));
      }
      saved = JSON.stringify(loader.save());
    }
    assert.deepEqual(joined, whole);
  };
}

Deno.test("stopped anywhere and resumed, the batches are those of an uninterrupted loop", async () => {
  await fc.assert(
    fc.asyncProperty(cases, resumesAnywhere(() => 0)),
    { numRuns: 100 },
  );
});

Deno.test("stopped anywhere and resumed with other numbers of workers", async () => {
  await fc.assert(
    fc.asyncProperty(cases, resumesAnywhere((part) => (part * 2 + 1) % 4)),
    { numRuns: LONG ? 20 : 3 },
  );
});

Deno.test("save in a loop leads to the next batch, and after the last one to the next epoch", async () => {
  const dataset = new NumbersDataset(6);
  const loader = new DataLoader(dataset, { batchSize: 2 });
  const places: [number, number][] = [];
  for await (const _ of loader) {
    const { epoch, step } = loader.save();
    places.push([epoch, step]);
  }
  assert.deepEqual(places, [[0, 1], [0, 2], [1, 0]]);
  assert.deepEqual([loader.epoch, loader.step], [1, 0]);
});

Deno.test("an abandoned loop ends its epoch; setStep continues it", async () => {
  const dataset = new NumbersDataset(10);
  const loader = new DataLoader(dataset, { batchSize: 2, shuffle: true });
  const whole = await indicesOf(loader);
  const next = await indicesOf(loader);
  loader.setEpoch(0);
  await indicesOf(loader, 2);
  assert.deepEqual([loader.epoch, loader.step, loader.length], [0, 2, 3]);
  assert.deepEqual(await indicesOf(loader), next);

  loader.setEpoch(0);
  await indicesOf(loader, 2);
  loader.setStep(loader.step);
  assert.deepEqual(await indicesOf(loader), whole.slice(2));

  loader.setEpoch(0);
  await indicesOf(loader, 2);
  loader.setEpoch(0); // starts over
  assert.deepEqual(await indicesOf(loader), whole);
});

Deno.test("setEpoch with the epoch of a restored state keeps its step", async () => {
  const loader = new DataLoader(new NumbersDataset(10), { batchSize: 2 });
  loader.load({ ...loader.save(), epoch: 4, step: 3 });
  loader.setEpoch(4);
  assert.deepEqual(await indicesOf(loader), [[6, 7], [8, 9]]);
  loader.setStep(3);
  loader.setEpoch(9);
  assert.equal(loader.step, 0);
});

Deno.test("a loop over a loader that was moved to another step fails", async () => {
  const loader = new DataLoader(new NumbersDataset(10), { batchSize: 2 });
  for (
    const move of [
      () => loader.setStep(2),
      () => loader.setEpoch(7),
      () => loader.load(loader.save()),
      () => loader.close(),
      () => loader[Symbol.asyncIterator]().next(),
    ]
  ) {
    const loop = loader[Symbol.asyncIterator]();
    await loop.next();
    await move();
    await assert.rejects(loop.next(), {
      name: "TypeError",
      message: /set to another place\. Begin a new loop/,
    });
  }
});

Deno.test("states of other loaders are rejected", () => {
  const dataset = new NumbersDataset(10);
  const options = { batchSize: 3, shuffle: true, seed: 1 };
  const loader = new DataLoader(dataset, options);
  const state = loader.save();
  const others: [LoaderState, RegExp][] = [
    [new DataLoader(new NumbersDataset(11), options).save(), /samples 11/],
    [
      new DataLoader(dataset, { ...options, batchSize: 2 }).save(),
      /batches 5/,
    ],
    [new DataLoader(dataset, { ...options, seed: 2 }).save(), /seed 2/],
    [
      new DataLoader(dataset, { ...options, shuffle: false }).save(),
      /shuffle false/,
    ],
    [
      new DataLoader(dataset, { ...options, dropLast: true }).save(),
      /batches 3/,
    ],
    [
      new DataLoader(dataset, { ...options, worldSize: 2, rank: 1 }).save(),
      /batches null/,
    ],
    [{ ...state, step: 5 }, /has 4 batches/],
    [{ ...state, step: -1 }, /step is -1/],
    [{ ...state, epoch: 0.5 }, /epoch is 0.5/],
    [{ ...state, version: 2 } as never, /save\(\)/],
    [null as never, /save\(\)/],
    ["{}" as never, /save\(\)/],
  ];
  for (const [other, message] of others) {
    assert.throws(() => loader.load(other), {
      name: "DataError",
      code: "bad-state",
      message,
    });
  }
  assert.deepEqual(loader.save(), state);
});

Deno.test("the state of a loader with another sampler is rejected", () => {
  const dataset = new NumbersDataset(20);
  const backwards = {
    length: 4,
    order: () => ({
      length: 4,
      at: (step: number) => [19 - step, step],
    }),
  };
  const samplers: Record<string, LoaderOptions<unknown, unknown>> = {
    sequential: {},
    random: { sampler: new RandomSampler(20) },
    replacing: { sampler: new RandomSampler(20, { replacement: true }) },
    blocks: { sampler: new BlockShuffleSampler(20, { blockSize: 2 }) },
    largerBlocks: { sampler: new BlockShuffleSampler(20, { blockSize: 5 }) },
    list: { sampler: Array.from({ length: 20 }, (_, i) => 19 - i) },
    batches: { batchSampler: backwards },
    others: {
      batchSampler: new BatchSampler(new SequentialSampler(20), {
        batchSize: 5,
      }),
    },
  };
  const options = Object.entries(samplers).map(([name, sampler]) =>
    [name, () =>
      new DataLoader(dataset, {
        ...("batchSampler" in sampler ? {} : { batchSize: 5 }),
        ...sampler,
      } as LoaderOptions<[number, number, number], unknown>)] as const
  );
  for (const [name, make] of options) {
    for (const epoch of [0, 3]) {
      const from = make();
      from.setEpoch(epoch);
      from.setStep(2);
      const state: LoaderState = JSON.parse(JSON.stringify(from.save()));
      for (const [other, makeOther] of options) {
        const loader = makeOther();
        if (other === name) {
          loader.load(state);
          assert.deepEqual(loader.save(), state);
        } else {
          assert.throws(
            () => loader.load(state),
            { name: "DataError", code: "bad-state" },
            `${other} continues ${name}`,
          );
        }
      }
    }
  }
});
