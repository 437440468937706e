/**
 * Tests whether permutations look as if drawn uniformly. Each figure is the deviation from the expected value in
 * standard deviations: below 4 for the library's permutations, and above 4 for the control, an order that the seed
 * only rotates, which shows that the figure can detect a defect.
 *
 * With 4 rounds of the network instead of 12, the differences of distant positions deviate by up to 17, and those of
 * neighbours by up to 80; with 6 rounds, those of neighbours deviate by 6 to 10 for lengths of 64 to 128, which use
 * tables here. From 8 rounds on, no figure deviated.
 */
import assert from "node:assert/strict";
import { FeistelPermutation } from "../../../src/data/random/permutation.ts";
import { permutation } from "../../../src/data/random/permutation.ts";
import { Random } from "../../../src/data/random/random.ts";
import { LONG } from "../../support/long.ts";
import { chiSquare, LIMIT, meanOff, poissonOff } from "./statistics.ts";

interface Order {
  readonly length: number;
  at(position: number): number;
}

type Make = (length: number, seed: number, epoch: number) => Order;

/** Permutations under test, and the lengths at which orders are computed in full. */
const OURS: [string, Make, number[]][] = [
  [
    "permutation()",
    (length, seed, epoch) => permutation(length, new Random(seed, epoch)),
    LONG ? [1000, 4097, 8192] : [1000, 4097],
  ],
  [
    "FeistelPermutation",
    (length, seed, epoch) =>
      new FeistelPermutation(length, new Random(seed, epoch)),
    LONG ? [120, 1000, 1024] : [120, 1024],
  ],
];

/** Order that is only rotated. */
const control: Make = (length, seed, epoch) => ({
  length,
  at: (position) => (position + seed + epoch) % length,
});

/** Figures of orders that are too long to be computed in full. */
const OF_LONG: Record<string, (make: Make) => number> = {
  "the first index, over seeds": (make) => {
    const counts = new Float64Array(500);
    for (let seed = 0; seed < 50_000; seed++) {
      counts[Math.floor(make(1e9, seed, 0).at(0) / 1e9 * 500)]! += 1;
    }
    return chiSquare(counts);
  },
  "the last index, over epochs": (make) => {
    const counts = new Float64Array(500);
    for (let epoch = 0; epoch < 50_000; epoch++) {
      counts[Math.floor(make(1e9, 42, epoch).at(1e9 - 1) / 1e9 * 500)]! += 1;
    }
    return chiSquare(counts);
  },
  "the first index's lowest bits": (make) => {
    const counts = new Float64Array(500);
    // Every 500th seed: consecutive ones would spread the control's indices evenly.
    for (let i = 0; i < 50_000; i++) {
      counts[make(1e9, i * 500, 0).at(0) % 500]! += 1;
    }
    return chiSquare(counts);
  },
  "the first two indices as a pair": (make) => {
    const counts = new Float64Array(32 * 32);
    for (let seed = 0; seed < 50_000; seed++) {
      const order = make(1e9, seed, 0);
      const [first, second] = [order.at(0), order.at(1)];
      counts[
        Math.floor(first / 1e9 * 32) * 32 + Math.floor(second / 1e9 * 32)
      ]! += 1;
    }
    return chiSquare(counts);
  },
  "correlation of neighbours in a billion": (make) =>
    correlation(100_000, (i, order) => order.at(i), make(1e9, 1, 0)),
  "correlation of neighbours in 2^53 - 1": (make) =>
    correlation(100_000, (i, order) => order.at(i), make(2 ** 53 - 1, 1, 0)),
  "correlation with the next seed's order": (make) => {
    const [one, next] = [make(1e9, 1, 0), make(1e9, 2, 0)];
    return correlation(
      100_000,
      (i) => i % 2 === 0 ? one.at(i) : next.at(i - 1),
      one,
    );
  },
  "correlation with the next epoch's order": (make) => {
    const [one, next] = [make(1e9, 1, 0), make(1e9, 1, 1)];
    return correlation(
      100_000,
      (i) => i % 2 === 0 ? one.at(i) : next.at(i - 1),
      one,
    );
  },
};

/** Figures of orders of which every position is visited. */
const OF_SHORT: Record<string, (make: Make, length: number) => number> = {
  "differences of neighbours": (make, length) => {
    const counts = new Float64Array(length - 1);
    for (const order of orders(make, length, 300_000)) {
      for (let i = 1; i < length; i++) {
        counts[(order[i]! - order[i - 1]! + length) % length - 1]! += 1;
      }
    }
    return chiSquare(counts);
  },
  "differences of positions far apart": (make, length) => {
    const counts = new Float64Array(length - 1);
    // Positions that share the network's low half.
    const apart = 2 ** Math.ceil(Math.log2(length) / 2);
    for (let seed = 0; seed < 20 * length; seed++) {
      const order = make(length, seed, 0);
      counts[(order.at(apart) - order.at(0) + length) % length - 1]! += 1;
    }
    return chiSquare(counts);
  },
  "fixed points": (make, length) =>
    poissonOff(
      orders(make, length).map((order) =>
        order.reduce((sum, index, i) => sum + (index === i ? 1 : 0), 0)
      ),
    ),
  "positions alike in the next seed's order": (make, length) =>
    poissonOff(
      Array.from({ length: 100 }, (_, seed) => {
        const [one, next] = [make(length, seed, 0), make(length, seed + 1, 0)];
        let alike = 0;
        for (let i = 0; i < length; i++) {
          alike += one.at(i) === next.at(i) ? 1 : 0;
        }
        return alike;
      }),
    ),
  // A position is the start of an ascending run if the index before it is larger.
  "ascending runs": (make, length) =>
    meanOff(
      orders(make, length).map((order) =>
        order.reduce(
          (sum, index, i) => sum + (i === 0 || order[i - 1]! > index ? 1 : 0),
          0,
        )
      ),
      (length + 1) / 2,
      (length + 1) / 12,
    ),
  "cycles": (make, length) => {
    let mean = 0;
    let variance = 0;
    for (let i = 1; i <= length; i++) {
      mean += 1 / i;
      variance += 1 / i - 1 / i ** 2;
    }
    return meanOff(orders(make, length).map(cyclesOf), mean, variance);
  },
};

/** Yields the orders of seeds from 0 on, until about the given number of indices is reached. */
function orders(
  make: Make,
  length: number,
  indices = 1_000_000,
): Uint16Array[] {
  return Array.from({ length: Math.ceil(indices / length) }, (_, seed) => {
    const order = make(length, seed, 0);
    return Uint16Array.from({ length }, (_, i) => order.at(i));
  });
}

function cyclesOf(order: Uint16Array): number {
  const seen = new Uint8Array(order.length);
  let cycles = 0;
  for (let start = 0; start < order.length; start++) {
    if (seen[start] === 1) continue;
    cycles++;
    for (let i = start; seen[i] === 0; i = order[i]!) seen[i] = 1;
  }
  return cycles;
}

/** Returns the correlation of pairs of successive values, in standard deviations. */
function correlation(
  count: number,
  valueAt: (i: number, order: Order) => number,
  order: Order,
): number {
  const middle = (order.length - 1) / 2;
  let product = 0;
  for (let i = 0; i < count; i += 2) {
    product += (valueAt(i, order) / middle - 1) *
      (valueAt(i + 1, order) / middle - 1);
  }
  // Each factor has a variance of one third.
  return product * 3 / Math.sqrt(count / 2);
}

for (const [name, make, lengths] of OURS) {
  for (const [what, figure] of Object.entries(OF_SHORT)) {
    Deno.test(`${name}: ${what}`, () => {
      for (const length of lengths) {
        const off = figure(make, length);
        assert.ok(Math.abs(off) < LIMIT, `${length}: ${off}`);
        if (!LONG && length !== lengths[0]) continue;
        assert.ok(Math.abs(figure(control, length)) > LIMIT, "the control");
      }
    });
  }
}

for (const [what, figure] of Object.entries(OF_LONG)) {
  Deno.test(`permutation() of a billion: ${what}`, () => {
    const off = figure(OURS[0]![1]);
    assert.ok(Math.abs(off) < LIMIT, `${off}`);
    assert.ok(Math.abs(figure(control)) > LIMIT, "the control");
  });
}

Deno.test("every order of four is equally likely, and orders of seven are odd and even equally often", () => {
  const counts = new Map<string, number>();
  let odd = 0;
  for (let seed = 0; seed < 24_000; seed++) {
    const four = permutation(4, new Random(seed, 0));
    const order = [0, 1, 2, 3].map((i) => four.at(i)).join();
    counts.set(order, (counts.get(order) ?? 0) + 1);
    const seven = permutation(7, new Random(seed, 1));
    odd += (7 - cyclesOf(Uint16Array.from({ length: 7 }, (_, i) =>
      seven.at(i)))) % 2;
  }
  assert.equal(counts.size, 24);
  assert.ok(Math.abs(chiSquare([...counts.values()])) < LIMIT);
  assert.ok(Math.abs(odd - 12_000) < LIMIT * Math.sqrt(6000));
});

Deno.test("a computed order is odd and even equally often", () => {
  const make: Make = (n, seed) => new FeistelPermutation(n, new Random(seed));
  for (const length of LONG ? [64, 100, 5000, 8192] : [64, 100, 1000, 1024]) {
    let odd = 0;
    for (const order of orders(make, length, 400 * length)) {
      odd += (length - cyclesOf(order)) % 2;
    }
    assert.ok(Math.abs(odd - 200) < LIMIT * 10, `${length}: ${odd} of 400`);
  }
});
