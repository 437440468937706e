import assert from "node:assert/strict";
import fc from "../../support/random.ts";
import { batchesOf } from "../../../src/data/samplers/batches.ts";
import type { Order } from "../../../src/data/samplers/sampler.ts";
import {
  RandomSampler,
  SequentialSampler,
} from "../../../src/data/samplers/whole_samplers.ts";
import { indicesOf, sorted, upTo } from "./orders.ts";

function sequential(length: number) {
  return new SequentialSampler(length).order(0, 0);
}

function all(batches: Order<number[]>): number[][] {
  return Array.from({ length: batches.length }, (_, i) => batches.at(i));
}

Deno.test("an epoch is split into batches, the last one smaller or dropped", () => {
  assert.deepEqual(all(batchesOf(sequential(10), { batchSize: 3 })), [
    ...[[0, 1, 2], [3, 4, 5], [6, 7, 8], [9]],
  ]);
  const dropped = batchesOf(sequential(10), { batchSize: 3, dropLast: true });
  assert.deepEqual(all(dropped), [[0, 1, 2], [3, 4, 5], [6, 7, 8]]);
  assert.deepEqual(all(batchesOf(sequential(6), { batchSize: 3 })), [
    ...[[0, 1, 2], [3, 4, 5]],
  ]);
  assert.deepEqual(all(batchesOf(sequential(0), { batchSize: 3 })), []);
  assert.deepEqual(all(batchesOf(sequential(2), { batchSize: 3 })), [[0, 1]]);
  assert.equal(
    batchesOf(sequential(2), { batchSize: 3, dropLast: true }).length,
    0,
  );
});

Deno.test("ranks alternate, and padding repeats the start", () => {
  const of = (rank: number, pad: boolean, length = 7) =>
    all(
      batchesOf(sequential(length), { batchSize: 2, rank, worldSize: 3, pad }),
    );
  assert.deepEqual([0, 1, 2].map((rank) => of(rank, false)), [
    [[0, 3], [6]],
    [[1, 4]],
    [[2, 5]],
  ]);
  assert.deepEqual([0, 1, 2].map((rank) => of(rank, true)), [
    [[0, 3], [6]],
    [[1, 4], [0]],
    [[2, 5], [1]],
  ]);
  // With fewer positions than ranks, padding still gives every rank one.
  assert.deepEqual([0, 1, 2].map((rank) => of(rank, false, 1)), [
    [[0]],
    [],
    [],
  ]);
  assert.deepEqual([0, 1, 2].map((rank) => of(rank, true, 1)), [[[0]], [[0]], [[
    0,
  ]]]);
  assert.deepEqual(of(2, true, 0), []);
});

Deno.test("ranks together have every position once", () => {
  fc.assert(
    fc.property(
      fc.nat(300),
      fc.integer({ min: 1, max: 40 }),
      fc.integer({ min: 1, max: 12 }),
      fc.nat(1000),
      (length, batchSize, worldSize, seed) => {
        const order = new RandomSampler(length).order(seed, 0);
        const whole = indicesOf(order);
        const ranks = upTo(worldSize).map((rank) =>
          all(batchesOf(order, { batchSize, rank, worldSize }))
        );
        assert.deepEqual(sorted(ranks.flat(2)), upTo(length));
        ranks.forEach((batches, rank) => {
          assert.deepEqual(
            batches.flat(),
            whole.filter((_, i) => i % worldSize === rank),
          );
          const kept = batchesOf(order, {
            batchSize,
            rank,
            worldSize,
            dropLast: true,
          });
          assert.deepEqual(
            all(kept),
            batches.filter(({ length }) => length === batchSize),
          );
        });
      },
    ),
  );
});

Deno.test("padded ranks have equally many, and each position once or twice", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 200 }),
      fc.integer({ min: 1, max: 40 }),
      fc.integer({ min: 1, max: 12 }),
      (length, batchSize, worldSize) => {
        const ranks = upTo(worldSize).map((rank) =>
          all(
            batchesOf(sequential(length), {
              batchSize,
              rank,
              worldSize,
              pad: true,
            }),
          ).flat()
        );
        const each = Math.ceil(length / worldSize);
        for (const indices of ranks) assert.equal(indices.length, each);
        // Alternating between ranks yields the order from its start, then again from its start.
        const turns = upTo(each * worldSize).map((i) =>
          ranks[i % worldSize]![Math.floor(i / worldSize)]
        );
        assert.deepEqual(turns, upTo(each * worldSize).map((i) => i % length));
      },
    ),
  );
});

Deno.test("an endless epoch has endless batches", () => {
  const batches = batchesOf(sequential(Infinity), {
    batchSize: 2,
    rank: 1,
    worldSize: 4,
    dropLast: true,
    pad: true,
  });
  assert.equal(batches.length, Infinity);
  assert.deepEqual(batches.at(0), [1, 5]);
  assert.deepEqual(batches.at(1e9), [8e9 + 1, 8e9 + 5]);
});

Deno.test("values out of range are rejected", () => {
  const refuse = (options: object, message: string) =>
    assert.throws(
      () => batchesOf(sequential(4), { batchSize: 2, ...options }),
      { name: "RangeError", message },
    );
  refuse({ batchSize: 0 }, "batchSize must be a whole number from 1 on, not 0");
  refuse(
    { batchSize: 1.5 },
    "batchSize must be a whole number from 1 on, not 1.5",
  );
  refuse({ worldSize: 0 }, "worldSize must be a whole number from 1 on, not 0");
  refuse({ rank: -1 }, "rank must be a whole number from 0 on, not -1");
  refuse(
    { rank: 2, worldSize: 2 },
    "rank must be from 0 to worldSize - 1, not 2 of 2",
  );
  const batches = batchesOf(sequential(4), { batchSize: 2 });
  for (const step of [-1, 2, 0.5, NaN]) {
    assert.throws(() => batches.at(step), {
      name: "RangeError",
      message: `There is no batch ${step}: valid positions are 0 to 1`,
    });
  }
});
