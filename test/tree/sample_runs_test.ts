import assert from "node:assert/strict";
import fc from "../support/random.ts";
import { SampleRuns } from "../../src/tree/sample_runs.ts";
import type { SampleRun } from "../../src/tree/tree.ts";

/** Runs without common nodes, in any order. */
const runs = fc.array(
  fc.record({
    gap: fc.nat(5),
    stride: fc.integer({ min: 1, max: 7 }),
    count: fc.nat(4),
    place: fc.nat(),
  }),
  { maxLength: 12 },
).map((parts) => {
  let next = 2 ** 33; // beyond 32 bits
  return parts.map(({ gap, stride, count, place }) => {
    const first = next + gap;
    next = first + stride * count;
    return { run: { first, stride, count }, place };
  }).sort((a, b) => a.place - b.place).map(({ run }) => run);
});

function nodesOf(given: readonly SampleRun[]): number[] {
  return given.flatMap(({ first, stride, count }) =>
    Array.from({ length: count }, (_, i) => first + i * stride)
  );
}

Deno.test("samples and their nodes are found from each other", () => {
  fc.assert(fc.property(runs, (given) => {
    const samples = SampleRuns.of({ areDirectories: false, runs: given });
    const nodes = nodesOf(given);
    assert.equal(samples.length, nodes.length);
    nodes.forEach((node, i) => {
      assert.equal(samples.node(i), node);
      assert.equal(samples.indexOf(node), i);
    });
    const largest = Math.max(0, ...nodes);
    assert.equal(samples.largestNode, largest);
    for (let node = 2 ** 33 - 2; node < largest + 9; node++) {
      assert.equal(samples.indexOf(node), nodes.indexOf(node));
    }
    for (const wrong of [-1, nodes.length, NaN]) {
      assert.equal(samples.node(wrong), 0);
    }
  }));
});

Deno.test("samples that a tree skips keep their indices", () => {
  const samples = SampleRuns.of({
    areDirectories: true,
    runs: [
      { first: 0, stride: 0, count: 2 },
      { first: 2, stride: 1, count: 3 },
      { first: 0, stride: 0, count: 1 },
      { first: 5, stride: 1, count: 1 },
      { first: 0, stride: 0, count: 1 },
    ],
  });
  const nodes = Array.from({ length: 8 }, (_, i) => samples.node(i));
  assert.deepEqual(nodes, [0, 0, 2, 3, 4, 0, 5, 0]);
  for (let node = 0; node < 9; node++) {
    assert.equal(samples.indexOf(node), node === 0 ? -1 : nodes.indexOf(node));
  }
  assert.equal(samples.largestNode, 5);
});

Deno.test("ten million samples of arithmetic ids are one run", () => {
  const samples = SampleRuns.of({
    areDirectories: true,
    runs: [{ first: 3, stride: 9, count: 1e7 }],
  });
  assert.equal(samples.runs, 1);
  assert.equal(samples.node(9_999_999), 3 + 9 * 9_999_999);
  assert.equal(samples.indexOf(4), -1); // in the first sample
});
