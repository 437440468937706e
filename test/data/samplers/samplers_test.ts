import assert from "node:assert/strict";
import fc from "../../support/random.ts";
import {
  BatchSampler,
  RandomSampler,
  type Sampler,
  SequentialSampler,
  SubsetRandomSampler,
  SubsetSampler,
} from "../../../src/open/data/mod.ts";
import { indicesOf, sorted, upTo } from "./orders.ts";

/** Returns the indices of two epochs of two seeds. */
function orders(sampler: Sampler): number[][] {
  return [[1, 0], [1, 1], [2, 0], [2, 1]].map(([seed, epoch]) =>
    indicesOf(sampler.order(seed!, epoch!))
  );
}

function assertAllDiffer(orders: number[][]): void {
  assert.equal(new Set(orders.map(String)).size, orders.length);
}

Deno.test("SequentialSampler gives every sample in order", () => {
  for (const indices of orders(new SequentialSampler({ length: 5 }))) {
    assert.deepEqual(indices, [0, 1, 2, 3, 4]);
  }
  const endless = new SequentialSampler(Infinity);
  assert.equal(endless.length, Infinity);
  assert.equal(endless.order(0, 0).length, Infinity);
  assert.equal(endless.order(0, 0).at(2 ** 52), 2 ** 52);
  assert.throws(() => endless.order(0, 0).at(Infinity), RangeError);
});

Deno.test("RandomSampler gives every sample once, in another order each epoch", () => {
  for (const length of [0, 1, 50, 5000]) {
    const sampler = new RandomSampler({ length });
    assert.equal(sampler.length, length);
    const found = orders(sampler);
    for (const indices of found) {
      assert.deepEqual(sorted(indices), upTo(length));
    }
    if (length > 1) assertAllDiffer(found);
    assert.deepEqual(orders(new RandomSampler(length)), found);
  }
});

Deno.test("RandomSampler gives several passes, or less than one", () => {
  const indices = indicesOf(
    new RandomSampler(10, { numSamples: 25 }).order(1, 0),
  );
  assert.equal(indices.length, 25);
  const passes = [indices.slice(0, 10), indices.slice(10, 20)];
  for (const pass of passes) assert.deepEqual(sorted(pass), upTo(10));
  assertAllDiffer([...passes, [...indices.slice(20), -1]]);
  assert.equal(new Set(indices.slice(20)).size, 5);
  // Positions in any order, also backwards.
  const order = new RandomSampler(10, { numSamples: Infinity }).order(1, 0);
  assert.equal(order.length, Infinity);
  for (let i = 24; i >= 0; i--) assert.equal(order.at(i), indices[i]);
  assert.ok(order.at(1e15) < 10);
  assert.deepEqual(
    indicesOf(new RandomSampler(10, { numSamples: 4 }).order(1, 0)),
    indices.slice(0, 4),
  );
});

Deno.test("RandomSampler draws with replacement, every sample equally often", () => {
  const sampler = new RandomSampler(7, { replacement: true, numSamples: 7000 });
  const found = orders(sampler);
  assertAllDiffer(found);
  for (const indices of found) {
    const counts = upTo(7).map((i) => indices.filter((j) => i === j).length);
    // Each count has a standard deviation of 29.3.
    for (const count of counts) assert.ok(Math.abs(count - 1000) < 4 * 29.3);
  }
  assert.deepEqual(
    indicesOf(new RandomSampler(1000, { replacement: true }).order(1, 0))
      .length,
    1000,
  );
});

Deno.test("SubsetSampler gives indices in order, and SubsetRandomSampler shuffles them", () => {
  const indices = [7, 2, 7, 2 ** 40, 0];
  for (const given of [indices, new Float64Array(indices), indices.values()]) {
    const sampler = new SubsetSampler(given);
    for (const found of orders(sampler)) assert.deepEqual(found, indices);
  }
  const sampler = new SubsetRandomSampler(new Set(upTo(40).map((i) => 3 * i)));
  assert.equal(sampler.length, 40);
  const found = orders(sampler);
  assertAllDiffer(found);
  for (const order of found) {
    assert.deepEqual(sorted(order), upTo(40).map((i) => 3 * i));
  }
});

Deno.test("a list given to a sampler may change afterward without effect", () => {
  const indices = new Uint32Array([1, 2, 3]);
  const samplers = [
    new SubsetSampler(indices),
    new SubsetRandomSampler(indices),
  ];
  indices.fill(9);
  for (const sampler of samplers) {
    assert.deepEqual(sorted(indicesOf(sampler.order(0, 0))), [1, 2, 3]);
  }
});

// The expected values are from a second implementation, in Python.
Deno.test("a seed and an epoch always give the same order", () => {
  const first = (sampler: Sampler, count: number) =>
    upTo(count).map((i) => sampler.order(42, 3).at(i));
  assert.deepEqual(first(new RandomSampler(10), 10), [
    ...[7, 0, 1, 9, 3, 2, 8, 5, 6, 4],
  ]);
  assert.deepEqual(first(new RandomSampler(1e9), 4), [
    ...[762175589, 473797425, 176333806, 839774395],
  ]);
  assert.deepEqual(
    first(new RandomSampler(1000, { replacement: true }), 4),
    [186, 430, 965, 6],
  );
  assert.deepEqual(first(new SubsetRandomSampler([0, 10, 20, 30, 40]), 5), [
    ...[30, 0, 40, 20, 10],
  ]);
});

Deno.test("BatchSampler splits a sampler's order, or a list, into batches", () => {
  const all = (sampler: BatchSampler) => {
    const batches = sampler.order(1, 0);
    assert.equal(batches.length, sampler.length);
    return upTo(batches.length).map((i) => batches.at(i));
  };
  assert.deepEqual(all(new BatchSampler(upTo(10), { batchSize: 3 })), [
    ...[[0, 1, 2], [3, 4, 5], [6, 7, 8], [9]],
  ]);
  assert.deepEqual(
    all(new BatchSampler(upTo(10), { batchSize: 3, dropLast: true })),
    [[0, 1, 2], [3, 4, 5], [6, 7, 8]],
  );
  const random = new RandomSampler(10);
  assert.deepEqual(
    all(new BatchSampler(random, { batchSize: 4 })).flat(),
    indicesOf(random.order(1, 0)),
  );
  assert.throws(() => new BatchSampler([1], { batchSize: 0 }), RangeError);
});

Deno.test("any index can be requested, in any order", () => {
  const samplers = [
    new RandomSampler(6000),
    new RandomSampler(50, { numSamples: 6000 }),
    new RandomSampler(50, { numSamples: 6000, replacement: true }),
    new SubsetRandomSampler(upTo(6000)),
  ].map((sampler) => ({ sampler, indices: indicesOf(sampler.order(3, 4)) }));
  fc.assert(
    fc.property(
      fc.constantFrom(...samplers),
      fc.array(fc.nat(5999)),
      ({ sampler, indices }, positions) => {
        const order = sampler.order(3, 4);
        for (const i of positions) assert.equal(order.at(i), indices[i]);
      },
    ),
  );
});

Deno.test("positions out of range are rejected", () => {
  const samplers = [
    new SequentialSampler(5),
    new RandomSampler(5),
    new RandomSampler(5, { replacement: true }),
    new RandomSampler(10, { numSamples: 5 }),
    new SubsetSampler(upTo(5)),
    new SubsetRandomSampler(upTo(5)),
  ];
  for (const sampler of samplers) {
    const order = sampler.order(0, 0);
    for (const position of [-1, 5, 0.5, NaN, Infinity]) {
      assert.throws(() => order.at(position), {
        name: "RangeError",
        message: `There is no position ${position}: valid positions are 0 to 4`,
      });
    }
  }
});

Deno.test("invalid lengths and lists are rejected", () => {
  for (const length of [-1, 0.5, NaN]) {
    assert.throws(() => new SequentialSampler(length), {
      name: "RangeError",
      message: `The length must be a whole number from 0 on, not ${length}`,
    });
  }
  assert.throws(() => new RandomSampler(Infinity), {
    name: "RangeError",
    message: "The dataset never ends: it cannot be shuffled as a whole",
  });
  assert.throws(() => new RandomSampler(5, { numSamples: -1 }), {
    name: "RangeError",
    message: "numSamples must be a whole number from 0 on, not -1",
  });
  assert.throws(() => new RandomSampler(0, { numSamples: 3 }), {
    name: "RangeError",
    message: "Cannot draw 3 samples: the dataset is empty",
  });
  for (const index of [-1, 0.5, NaN, 2 ** 53]) {
    assert.throws(() => new SubsetSampler([0, index]), {
      name: "RangeError",
      message:
        `The index at position 1 must be a whole number from 0 on, not ${index}`,
    });
    assert.throws(() => new SubsetRandomSampler([0, index]), RangeError);
  }
  assert.throws(() => new SubsetSampler({} as number[]), {
    name: "TypeError",
    message: "A list of indices must be an array, or iterable",
  });
  assert.throws(() => new RandomSampler(5).order(0.5, 0), RangeError);
});
