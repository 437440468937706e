import assert from "node:assert/strict";
import fc from "../../support/random.ts";
import { BlockShuffleSampler } from "../../../src/data/samplers/block_shuffle_sampler.ts";
import { chiSquare, LIMIT } from "../../data/random/statistics.ts";
import { indicesOf, sorted, upTo } from "./orders.ts";

Deno.test("every sample occurs once, whatever the blocks", () => {
  fc.assert(
    fc.property(
      fc.nat(600),
      fc.integer({ min: 1, max: 50 }),
      fc.integer({ min: 1, max: 20 }),
      fc.nat(),
      (length, blockSize, buffer, seed) => {
        const sampler = new BlockShuffleSampler(length, { blockSize, buffer });
        assert.equal(sampler.length, length);
        const order = sampler.order(seed, 0);
        assert.deepEqual(sorted(indicesOf(order)), upTo(length));
      },
    ),
    { numRuns: 1000 },
  );
});

Deno.test("the samples of a group are those of whole blocks", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 600 }),
      fc.integer({ min: 1, max: 50 }),
      fc.integer({ min: 1, max: 20 }),
      fc.nat(),
      (length, blockSize, buffer, seed) => {
        const order = new BlockShuffleSampler(length, { blockSize, buffer })
          .order(seed, 0);
        const left = indicesOf(order);
        const count = Math.ceil(length / blockSize);
        const groups = Math.ceil(count / buffer);
        for (let group = 0; group < groups; group++) {
          // With 17 blocks and a buffer of 16: nine, then eight.
          const size = Math.ceil((count - group) / groups);
          // Counts the samples of the blocks that occur until the expected number of blocks has been seen.
          const blocks = new Set<number>();
          for (const index of left) {
            if (blocks.size === size) break;
            blocks.add(Math.floor(index / blockSize));
          }
          const whole = [...blocks].flatMap((block) =>
            upTo(Math.min(blockSize, length - block * blockSize)).map((i) =>
              block * blockSize + i
            )
          );
          assert.deepEqual(
            sorted(left.splice(0, whole.length)),
            sorted(whole),
          );
        }
        assert.deepEqual(left, []);
      },
    ),
    { numRuns: 300 },
  );
});

Deno.test("of 17 blocks, nine are shuffled together, and then eight", () => {
  const sampler = new BlockShuffleSampler(170, { blockSize: 10 });
  const order = indicesOf(sampler.order(3, 1));
  const blocksOf = (indices: number[]) =>
    new Set(indices.map((index) => Math.floor(index / 10)));
  const [first, second] = [order.slice(0, 90), order.slice(90)].map(blocksOf);
  assert.deepEqual([first!.size, second!.size], [9, 8]);
});

Deno.test("any position can be requested, in any order", () => {
  const sampler = new BlockShuffleSampler(1003, { blockSize: 10, buffer: 4 });
  const indices = indicesOf(sampler.order(1, 2));
  fc.assert(
    fc.property(fc.array(fc.nat(1002)), (positions) => {
      const order = sampler.order(1, 2);
      for (const i of positions) assert.equal(order.at(i), indices[i]);
    }),
  );
});

Deno.test("different seeds and epochs give different orders, of blocks and within them", () => {
  const sampler = new BlockShuffleSampler(64, { blockSize: 4, buffer: 2 });
  const firsts = new Float64Array(16);
  const inside = new Float64Array(4);
  for (let epoch = 0; epoch < 8000; epoch++) {
    const first = sampler.order(1, epoch).at(0);
    firsts[first >> 2]! += 1;
    inside[first & 3]! += 1;
  }
  assert.ok(Math.abs(chiSquare(firsts)) < LIMIT);
  assert.ok(Math.abs(chiSquare(inside)) < LIMIT);
  const orders = [[1, 0], [1, 1], [2, 0]].map(([seed, epoch]) =>
    indicesOf(sampler.order(seed!, epoch!)).join()
  );
  assert.equal(new Set(orders).size, 3);
});

Deno.test("blocks of a billion samples are computed, not stored", () => {
  const sampler = new BlockShuffleSampler(1e9 + 7, { blockSize: 1000 });
  const order = sampler.order(1, 0);
  for (const start of [0, 500_000_000, 999_984_007]) {
    const at = Math.floor(start / 16_000) * 16_000;
    const seen = new Set<number>();
    for (let i = at; i < at + 16_000; i++) seen.add(order.at(i));
    assert.equal(seen.size, 16_000);
    const blocks = new Set([...seen].map((index) => Math.floor(index / 1000)));
    // The short block shifts the blocks after it, so that these may be in two groups.
    assert.ok(blocks.size >= 16 && blocks.size <= 32);
  }
});

// The expected values are from a second implementation, in Python, which makes lists of the blocks, shuffles them and
// joins them.
Deno.test("a seed and an epoch always give the same order", () => {
  const sampler = new BlockShuffleSampler(23, { blockSize: 4, buffer: 2 });
  assert.deepEqual(indicesOf(sampler.order(42, 3)), [
    ...[21, 12, 13, 20, 15, 14, 22, 9, 16, 8, 11, 19],
    ...[18, 17, 10, 7, 5, 3, 1, 6, 4, 2, 0],
  ]);
});

Deno.test("values out of range are rejected", () => {
  assert.throws(() => new BlockShuffleSampler(10, { blockSize: 0 }), {
    name: "RangeError",
    message: "blockSize must be a whole number from 1 on, not 0",
  });
  assert.throws(
    () => new BlockShuffleSampler(10, { blockSize: 2, buffer: 0.5 }),
    {
      name: "RangeError",
      message: "buffer must be a whole number from 1 on, not 0.5",
    },
  );
  assert.throws(() => new BlockShuffleSampler(Infinity, { blockSize: 2 }), {
    name: "RangeError",
    message: "The dataset never ends: it cannot be shuffled as a whole",
  });
  const order = new BlockShuffleSampler(10, { blockSize: 4 }).order(0, 0);
  for (const position of [-1, 10, 0.5, NaN]) {
    assert.throws(() => order.at(position), RangeError);
  }
});
