import assert from "node:assert/strict";
import fc from "../../support/random.ts";
import { Epochs } from "../../../src/open/data/mod.ts";
import { ListDataset, range } from "../../support/list_dataset.ts";

const sorted = (values: readonly number[]) => values.toSorted((a, b) => a - b);

Deno.test("Epochs in order repeats the dataset", async () => {
  const source = new Epochs(new ListDataset(range(0, 10)), { shuffle: false });
  assert.equal(source.length, Infinity);
  assert.equal(source.epochLength, 10);
  assert.deepEqual(
    await source.get(range(0, 20)),
    [...range(0, 10), ...range(0, 10)],
  );
});

Deno.test("each epoch has every sample once, in an order of its own", async () => {
  const source = new Epochs(new ListDataset(range(0, 100)));
  const output = await source.get(range(0, 300));
  const epochs = [0, 1, 2].map((epoch) =>
    output.slice(100 * epoch, 100 * epoch + 100)
  );
  for (const epoch of epochs) {
    assert.notDeepEqual(epoch, range(0, 100));
    assert.deepEqual(sorted(epoch), range(0, 100));
  }
  assert.notDeepEqual(epochs[0], epochs[1]);
  assert.notDeepEqual(epochs[1], epochs[2]);
});

Deno.test("the order of Epochs follows from its seed and from the loader's", async () => {
  const dataset = new ListDataset(range(0, 100));
  const steps = range(0, 100);
  const orders = [
    await new Epochs(dataset).get(steps),
    await new Epochs(dataset, { seed: 1 }).get(steps),
    await new Epochs(dataset).get(steps, { seed: 1 }),
    await new Epochs(dataset, { seed: 1 }).get(steps, { seed: 1 }),
    await new Epochs(dataset).get(steps, { epoch: 1 }),
  ];
  assert.equal(new Set(orders.map(String)).size, orders.length);
  for (const order of orders) assert.deepEqual(sorted(order), steps);
  const again = new Epochs(dataset, { seed: 1 });
  await again.get([250], { seed: 5, epoch: 2 }); // earlier requests have no effect
  assert.deepEqual(await again.get(steps), orders[1]);
});

Deno.test("the dataset receives the epoch, so a batch across its end is two reads", async () => {
  const dataset = new ListDataset(range(0, 10));
  const source = new Epochs(dataset, { shuffle: false });
  const { signal } = new AbortController();
  assert.deepEqual(
    await source.get([8, 30, 9, 10, 11], { seed: 4, signal }),
    [8, 0, 9, 0, 1],
  );
  assert.deepEqual(dataset.reads, [
    { indices: [8, 9], options: { seed: 4, epoch: 0, signal } },
    { indices: [0], options: { seed: 4, epoch: 3, signal } },
    { indices: [0, 1], options: { seed: 4, epoch: 1, signal } },
  ]);
});

Deno.test("later epochs of a loader give the dataset other seeds", async () => {
  const dataset = new ListDataset(range(0, 10));
  const source = new Epochs(dataset);
  for (const epoch of [0, 1, 2]) await source.get([12], { seed: 4, epoch });
  const told = dataset.reads.map(({ options }) => options);
  assert.deepEqual(told.map(({ epoch }) => epoch), [1, 1, 1]);
  assert.equal(told[0]!.seed, 4);
  assert.equal(new Set(told.map(({ seed }) => seed)).size, 3);
});

Deno.test("an epoch may have only the first samples", async () => {
  const source = new Epochs(new ListDataset(range(0, 10)), { length: 4 });
  const output = await source.get(range(4, 8));
  assert.deepEqual(sorted(output), range(0, 4));
  const endless = new Epochs(
    new Epochs(new ListDataset([7, 8]), { shuffle: false }),
    { length: 3, shuffle: false },
  );
  assert.deepEqual(await endless.get(range(0, 6)), [7, 8, 7, 7, 8, 7]);
});

Deno.test("a step is the same alone, in any batch, and in any order", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 50 }),
      fc.nat({ max: 2 ** 31 }),
      fc.array(fc.maxSafeNat(), { maxLength: 20 }),
      async (length, seed, steps) => {
        const dataset = new ListDataset(range(0, length));
        const together = await new Epochs(dataset, { seed }).get(steps);
        const alone = await Promise.all(
          steps.map((step) => new Epochs(dataset, { seed }).get([step])),
        );
        assert.deepEqual(together, alone.flat());
      },
    ),
    { numRuns: 50 },
  );
});

Deno.test("every epoch of any length is a permutation", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 300 }),
      fc.nat({ max: 1e9 }),
      fc.maxSafeNat(),
      async (length, epoch, seed) => {
        const source = new Epochs(new ListDataset(range(0, length)), { seed });
        const output = await source.get(
          range(epoch * length, epoch * length + length),
        );
        assert.deepEqual(sorted(output), range(0, length));
      },
    ),
    { numRuns: 50 },
  );
});
