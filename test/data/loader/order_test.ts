import assert from "node:assert/strict";
import { DataLoader } from "../../../src/open/data/mod.ts";
import { BatchSampler } from "../../../src/open/data/mod.ts";
import { LONG } from "../../support/long.ts";
import { below, indicesOf } from "../support/batches.ts";
import { HostileDataset } from "../support/hostile_dataset.ts";
import { NumbersDataset } from "../support/numbers_dataset.ts";

/** With two threads, batches can overtake each other. */
const WORKERS = LONG ? [0, 1, 2, 4] : [0, 2];

for (const numWorkers of WORKERS) {
  Deno.test(`batches of 8 out of 100 are in order, ${numWorkers} workers`, async () => {
    const dataset = new NumbersDataset(100);
    await using loader = new DataLoader(dataset, { batchSize: 8, numWorkers });
    assert.equal(loader.length, 13);
    const batches = await indicesOf(loader);
    assert.deepEqual(batches.map(({ length }) => length), [
      ...new Array(12).fill(8),
      4,
    ]);
    assert.deepEqual(batches.flat(), below(100));
  });

  for (const shuffle of [true, false]) {
    for (const batchSize of [1, 4]) {
      Deno.test(
        `after setStep, the batches from there on: ` +
          `shuffle ${shuffle}, ${numWorkers} workers, batches of ${batchSize}`,
        async () => {
          const dataset = new NumbersDataset(25 * batchSize);
          const options = { batchSize, shuffle, seed: 12345 };
          const whole = await indicesOf(new DataLoader(dataset, options));
          assert.equal(whole.length, 25);
          assert.deepEqual(
            whole.flat().toSorted((a, b) => a - b),
            below(25 * batchSize),
          );
          const isInPlaces = whole.flat().every((index, i) => index === i);
          assert.equal(isInPlaces, !shuffle);

          await using loader = new DataLoader(dataset, {
            ...options,
            numWorkers,
            persistentWorkers: numWorkers > 0,
          });
          loader.setStep(5);
          assert.equal(loader.length, 20);
          assert.deepEqual(await indicesOf(loader), whole.slice(5));
          assert.equal(loader.length, 25); // of the next epoch
          loader.setEpoch(0);
          loader.setStep(0);
          assert.equal(loader.length, 25);
          assert.deepEqual(await indicesOf(loader), whole);
        },
      );
    }
  }
}

Deno.test("each epoch has an order of its own, the same with any number of workers", async () => {
  const dataset = new NumbersDataset(30);
  const options = { batchSize: 7, shuffle: true, seed: 3 };
  const alone = new DataLoader(dataset, options);
  await using threads = new DataLoader(dataset, { ...options, numWorkers: 2 });
  const epochs: string[] = [];
  for (let epoch = 0; epoch < 3; epoch++) {
    assert.equal(alone.epoch, epoch);
    const batches = await indicesOf(alone);
    assert.deepEqual(await indicesOf(threads), batches);
    epochs.push(batches.join());
  }
  assert.equal(new Set(epochs).size, 3);
  alone.setEpoch(1);
  assert.equal((await indicesOf(alone)).join(), epochs[1]);
});

Deno.test("datasets receive the seed and the epoch", async () => {
  const dataset = new NumbersDataset(4);
  const options = { batchSize: 4, seed: 17 };
  const alone = new DataLoader(dataset, options);
  await using threads = new DataLoader(dataset, { ...options, numWorkers: 1 });
  for (const loader of [alone, threads]) {
    loader.setEpoch(6);
    for await (const [_, seeds, epochs] of loader) {
      assert.deepEqual([...seeds, ...epochs], [17, 17, 17, 17, 6, 6, 6, 6]);
    }
  }
});

Deno.test("batches come in order, whichever thread is fastest", async () => {
  const dataset = new HostileDataset("take-unequal-times", -1);
  await using loader = new DataLoader<number, number[]>(dataset as never, {
    numWorkers: 3,
    prefetchFactor: 3,
    collate: false,
  });
  const indices: number[] = [];
  for await (const batch of loader) indices.push(...batch);
  assert.deepEqual(indices, below(40));
});

Deno.test("a smaller last batch is dropped on request", async () => {
  const options = { batchSize: 4, dropLast: true };
  const loader = new DataLoader(new NumbersDataset(11), options);
  assert.equal(loader.length, 2);
  assert.deepEqual((await indicesOf(loader)).flat(), below(8));
});

Deno.test("samplers and lists of indices set the order", async () => {
  const sampler = [5, 3, 3, 9];
  const loader = new DataLoader(new NumbersDataset(10), {
    batchSize: 3,
    sampler,
  });
  assert.deepEqual(await indicesOf(loader), [[5, 3, 3], [9]]);

  const batchSampler = new BatchSampler([4, 2, 0], { batchSize: 2 });
  const own = new DataLoader(new NumbersDataset(10), { batchSampler });
  assert.equal(own.length, 2);
  assert.deepEqual(await indicesOf(own), [[4, 2], [0]]);
});

Deno.test("an order without a length is rejected, and not treated as empty", async () => {
  for (const length of [undefined, NaN, -1, 2.5]) {
    const order = () => ({ length: length as number, at: () => 0 });
    const batches = {
      length: length as number,
      order: () => ({ length: 3, at: () => [0] }),
    };
    for (
      const options of [
        { sampler: { length: 3, order } },
        { batchSampler: batches },
      ]
    ) {
      const loader = new DataLoader(new NumbersDataset(3), options);
      await assert.rejects(loader[Symbol.asyncIterator]().next(), {
        name: "RangeError",
        message: /^The length of the sampler's order must be/,
      });
    }
  }
});

Deno.test("an empty dataset has epochs without batches", async () => {
  const loader = new DataLoader(new NumbersDataset(0), { batchSize: 3 });
  assert.equal(loader.length, 0);
  assert.deepEqual(await indicesOf(loader), []);
  assert.equal(loader.epoch, 1);
  loader.setStep(0);
});

Deno.test("a dataset that never ends has one epoch", async () => {
  const dataset = new NumbersDataset(Infinity);
  for (const numWorkers of [0, 1]) {
    await using loader = new DataLoader(dataset, { batchSize: 2, numWorkers });
    assert.equal(loader.length, Infinity);
    loader.setStep(1e12);
    assert.deepEqual(await indicesOf(loader, 2), [
      [2e12, 2e12 + 1],
      [2e12 + 2, 2e12 + 3],
    ]);
    const state = JSON.parse(JSON.stringify(loader.save()));
    assert.equal(state.step, 1e12 + 2);
    loader.load(state);
    assert.deepEqual(await indicesOf(loader, 1), [[2e12 + 4, 2e12 + 5]]);
  }
  assert.throws(
    () => new DataLoader(dataset, { shuffle: true }),
    { name: "RangeError", message: /never ends/ },
  );
});
