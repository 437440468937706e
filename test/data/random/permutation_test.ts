import assert from "node:assert/strict";
import fc from "../../support/random.ts";
import {
  FeistelPermutation,
  type Permutation,
  permutation,
} from "../../../src/data/random/permutation.ts";
import { Random } from "../../../src/data/random/random.ts";
import { LONG } from "../../support/long.ts";

/** Asserts that every index occurs once, and that the inverse is correct. */
function assertBijective(order: Permutation, length: number): void {
  assert.equal(order.length, length);
  const seen = new Uint8Array(length);
  for (let i = 0; i < length; i++) {
    const index = order.at(i);
    if (!(index >= 0 && index < length) || seen[index] === 1) {
      assert.fail(`${length}: index ${index} at position ${i}`);
    }
    seen[index] = 1;
  }
  // Checking the whole inverse would double the time; the positions differ for every length.
  for (let i = length % 97; i < length; i += 97) {
    if (order.positionOf(order.at(i)) !== i) {
      assert.fail(`${length}: position ${i}`);
    }
  }
}

Deno.test("every index occurs once, for every length up to 10,000", () => {
  // Tables up to 4,096, networks above. Of long ones, tests every 29th, or all in the long run.
  for (let length = 0; length <= 10_000; length++) {
    const isNear = Math.abs(length - 4096) < 5;
    if (!LONG && length > 1100 && !isNear && length % 29 !== 0) continue;
    assertBijective(permutation(length, new Random(length)), length);
  }
});

Deno.test("every index occurs once in a network of few bits", () => {
  for (let length = 0; length <= 1100; length++) {
    assertBijective(
      new FeistelPermutation(length, new Random(length)),
      length,
    );
  }
});

Deno.test("every index occurs once for lengths about 2^20", () => {
  for (const length of [2 ** 20 - 1, 2 ** 20, 2 ** 20 + 1]) {
    assertBijective(permutation(length, new Random(length)), length);
  }
});

Deno.test("the inverse finds every position of long permutations", () => {
  const lengths = fc.integer({ min: 12, max: 53 }).chain((bits) =>
    fc.integer({ min: 2 ** (bits - 1), max: 2 ** bits - 1 })
  );
  fc.assert(
    fc.property(
      lengths,
      fc.nat(),
      fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
      (length, seed, share) => {
        const order = permutation(length, new Random(seed));
        for (const at of [0, Math.floor(share * length), length - 1]) {
          const index = order.at(at);
          assert.ok(Number.isSafeInteger(index));
          assert.ok(index >= 0 && index < length);
          assert.equal(order.positionOf(index), at);
          assert.equal(order.at(order.positionOf(at)), at);
        }
      },
    ),
    { numRuns: 2000 },
  );
});

Deno.test("no index of 200,000 from the middle of a long permutation occurs twice", () => {
  for (const length of [1e9, 2 ** 32 + 1, 2 ** 53 - 1]) {
    const order = permutation(length, new Random(5));
    const seen = new Set<number>();
    const start = Math.floor(length / 2);
    for (let i = 0; i < 200_000; i++) seen.add(order.at(start + i));
    assert.equal(seen.size, 200_000);
  }
});

// The expected values are from a second implementation, in Python.
Deno.test("a seed always gives the same order", () => {
  const promised: [number, number[]][] = [
    [10_000, [6768, 916, 9351, 8753, 8998]],
    [1e9, [597009375, 678285118, 953278586, 653239975, 703115686]],
    [2 ** 53 - 1, [
      1719390286016943,
      3832649037836575,
      2309046909443820,
      2765872550784191,
      8640068873431486,
    ]],
  ];
  for (const [length, indices] of promised) {
    const order = permutation(length, new Random(42, 0));
    const positions = [0, 1, 2, Math.floor(length / 2), length - 1];
    assert.deepEqual(positions.map((i) => order.at(i)), indices);
  }
  const short = permutation(10, new Random(42, 0));
  assert.deepEqual(
    Array.from({ length: 10 }, (_, i) => short.at(i)),
    [1, 8, 7, 5, 6, 3, 9, 2, 4, 0],
  );
});

Deno.test("positions out of range are rejected", () => {
  for (const length of [0, 1, 10, 5000]) {
    const order = permutation(length, new Random(1));
    for (const at of [-1, length, 0.5, NaN, Infinity]) {
      assert.throws(() => order.at(at), RangeError);
      assert.throws(() => order.positionOf(at), RangeError);
    }
  }
  assert.throws(() => permutation(10, new Random(1)).at(10), {
    message: "There is no position 10: valid positions are 0 to 9",
  });
  assert.throws(() => permutation(0, new Random(1)).at(0), {
    message: "There is no position 0: the epoch is empty",
  });
  for (const length of [-1, 0.5, NaN, Infinity, 2 ** 53]) {
    assert.throws(() => permutation(length, new Random(1)), {
      name: "RangeError",
      message: `The length must be a whole number from 0 on, not ${length}`,
    });
  }
});
