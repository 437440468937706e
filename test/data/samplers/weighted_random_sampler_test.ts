import assert from "node:assert/strict";
import fc from "../../support/random.ts";
import {
  WeightedRandomSampler,
  WeightTable,
} from "../../../src/data/samplers/weighted_random_sampler.ts";
import { chiSquare, LIMIT } from "../../data/random/statistics.ts";
import { indicesOf, sorted } from "./orders.ts";

Deno.test("draws with replacement follow the weights", () => {
  const weights = [1, 0, 3, 6, 0, 0.5, 1e-300, 0];
  const total = weights.reduce((sum, weight) => sum + weight);
  for (const [seed, epoch] of [[1, 0], [1, 1], [2, 0]] as const) {
    const sampler = new WeightedRandomSampler(weights, 20_000);
    const counts = new Float64Array(8);
    for (const index of indicesOf(sampler.order(seed, epoch))) {
      counts[index]! += 1;
    }
    for (const never of [1, 4, 6, 7]) assert.equal(counts[never], 0);
    const drawn = [0, 2, 3, 5];
    const off = chiSquare(
      drawn.map((i) => counts[i]!),
      drawn.map((i) => weights[i]! / total * 20_000),
    );
    assert.ok(Math.abs(off) < LIMIT);
  }
});

Deno.test("every number maps to the sample whose share contains it", () => {
  const weight = fc.oneof(
    fc.constantFrom(0, 0, 1, 1e-9, 1e9, 5e-324),
    fc.double({ min: 0, max: 100, noNaN: true }),
  );
  const number = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
  fc.assert(
    fc.property(
      fc.array(weight, { minLength: 1, maxLength: 70 }),
      fc.array(number),
      (weights, numbers) => {
        fc.pre(weights.some((weight) => weight > 0));
        const table = new WeightTable(Float64Array.from(weights));
        let total = 0;
        const sums = weights.map((weight) => total += weight);
        const edges = sums.map((sum) => sum / total).filter((edge) => edge < 1);
        for (const at of [0, 1 - 2 ** -53, ...edges, ...numbers]) {
          const found = table.at(at);
          assert.ok(weights[found]! > 0);
          const sought = sums.findIndex((sum) => sum > at * total);
          const last = weights.findLastIndex((weight) => weight > 0);
          assert.equal(found, sought < 0 ? last : sought);
        }
      },
    ),
    { numRuns: 500 },
  );
});

Deno.test("draws without replacement are all different, and the first by weight", () => {
  const weights = [1, 2, 0, 3, 4];
  const firsts = new Float64Array(4);
  const seconds = new Float64Array(4);
  const drawn = [0, 1, 3, 4];
  const sampler = new WeightedRandomSampler(weights, 4, { replacement: false });
  for (let epoch = 0; epoch < 20_000; epoch++) {
    const indices = indicesOf(sampler.order(1, epoch));
    assert.deepEqual(sorted(indices), drawn);
    firsts[drawn.indexOf(indices[0]!)]! += 1;
    seconds[drawn.indexOf(indices[1]!)]! += 1;
  }
  const shares = drawn.map((i) => weights[i]! / 10);
  assert.ok(
    Math.abs(chiSquare(firsts, shares.map((share) => 20_000 * share))) < LIMIT,
  );
  // The second draw follows the weights of the remaining samples.
  const left = shares.map((share, i) =>
    shares.reduce(
      (sum, first, j) => sum + (i === j ? 0 : first * share / (1 - first)),
      0,
    )
  );
  assert.ok(
    Math.abs(chiSquare(seconds, left.map((share) => 20_000 * share))) < LIMIT,
  );
  const some = new WeightedRandomSampler(weights, 2, { replacement: false });
  assert.deepEqual(
    indicesOf(some.order(1, 7)),
    indicesOf(sampler.order(1, 7)).slice(0, 2),
  );
});

// The expected values are from a second implementation, in Python.
Deno.test("a seed and an epoch always give the same draws", () => {
  const weights = [1, 0, 3, 6];
  assert.deepEqual(
    indicesOf(new WeightedRandomSampler(weights, 12).order(42, 3)),
    [2, 3, 3, 0, 2, 3, 3, 3, 3, 2, 3, 3],
  );
  assert.deepEqual(
    indicesOf(
      new WeightedRandomSampler(weights, 3, { replacement: false }).order(
        42,
        3,
      ),
    ),
    [2, 3, 0],
  );
});

Deno.test("the number of draws may be infinite, or zero", () => {
  const endless = new WeightedRandomSampler([1, 2], Infinity);
  assert.equal(endless.order(1, 0).length, Infinity);
  assert.ok(endless.order(1, 0).at(2 ** 50) < 2);
  assert.equal(new WeightedRandomSampler([], 0).order(1, 0).length, 0);
  assert.throws(
    () => new WeightedRandomSampler([1], 1).order(1, 0).at(1),
    RangeError,
  );
  assert.throws(
    () =>
      new WeightedRandomSampler([1], 1, { replacement: false }).order(1, 0).at(
        1,
      ),
    RangeError,
  );
});

Deno.test("weights that allow no draw are rejected", () => {
  const refuse = (
    weights: number[],
    count: number,
    replacement: boolean,
    message: string,
  ) =>
    assert.throws(
      () => new WeightedRandomSampler(weights, count, { replacement }),
      { name: "RangeError", message },
    );
  for (const weight of [-1, NaN, Infinity]) {
    refuse(
      [1, weight],
      1,
      true,
      `The weight of sample 1 must be a number from 0 on, not ${weight}`,
    );
  }
  refuse(
    [1e308, 1e308],
    1,
    true,
    "The sum of the weights must be a number: give smaller ones",
  );
  refuse([0, 0], 1, true, "Cannot draw samples: none has a weight above 0");
  refuse([], 1, false, "Cannot draw samples: none has a weight above 0");
  refuse(
    [1, 0, 2],
    3,
    false,
    "Cannot draw 3 samples without replacement: only 2 have a weight above 0",
  );
  refuse(
    [1],
    0.5,
    true,
    "numSamples must be a whole number from 0 on, not 0.5",
  );
  refuse(
    [1],
    Infinity,
    false,
    "numSamples must be a whole number from 0 on, not Infinity",
  );
});
