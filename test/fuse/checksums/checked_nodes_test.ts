import assert from "node:assert/strict";
import {
  CheckedNodes,
  newCheckedNodes,
} from "../../../fuse/checksums/checked_nodes.ts";

Deno.test("nodes checked by one thread are known to the others", () => {
  const memory = newCheckedNodes(100);
  const [one, other] = [new CheckedNodes(memory), new CheckedNodes(memory)];
  for (const node of [1, 31, 32, 63, 64, 100]) {
    assert.equal(other.has(node), false);
    one.add(node, one.generation);
    assert.equal(other.has(node), true);
  }
  const known = Array.from({ length: 101 }, (_, node) => node)
    .filter((node) => other.has(node));
  assert.deepEqual(known, [1, 31, 32, 63, 64, 100]);
});

Deno.test("all of them are invalidated at once", () => {
  const nodes = new CheckedNodes(newCheckedNodes(100));
  nodes.add(7, nodes.generation);
  nodes.add(99, nodes.generation);
  nodes.invalidate();
  assert.deepEqual([nodes.has(7), nodes.has(99)], [false, false]);
});

Deno.test("content read before an invalidation is not recorded", () => {
  const nodes = new CheckedNodes(newCheckedNodes(100));
  const { generation } = nodes;
  nodes.invalidate();
  nodes.add(7, generation);
  assert.equal(nodes.has(7), false);
  nodes.add(7, nodes.generation);
  assert.equal(nodes.has(7), true);
});

Deno.test("nodes beyond the bitmap are remembered, and none is taken for another", () => {
  const memory = newCheckedNodes(0);
  const [one, other] = [new CheckedNodes(memory), new CheckedNodes(memory)];
  const large = [32, 2 ** 31, 2 ** 32 + 1, 2 ** 53 - 1];
  for (const node of large) {
    assert.equal(other.has(node), false);
    one.add(node, one.generation);
    assert.equal(other.has(node), true);
  }
  assert.equal(one.has(1), false);
  // Nodes of containers lie a fixed distance apart, and share low or high words.
  const added = new Set<number>(large);
  for (let i = 1; i < 20_000; i++) {
    const node = i * (2 ** 33 + 7) + i % 3;
    assert.ok(!other.has(node) || added.has(node));
    if (i % 2 === 0) {
      one.add(node, one.generation);
      added.add(node);
      assert.ok(other.has(node));
    }
    assert.equal(other.has(node + 1), added.has(node + 1));
    assert.equal(other.has(node + 2 ** 32), added.has(node + 2 ** 32));
  }
});

Deno.test("nodes beyond the bitmap are invalidated, too", () => {
  const nodes = new CheckedNodes(newCheckedNodes(0));
  const { generation } = nodes;
  nodes.add(2 ** 40, generation);
  nodes.invalidate();
  assert.equal(nodes.has(2 ** 40), false);
  nodes.add(2 ** 40, generation); // read before
  assert.equal(nodes.has(2 ** 40), false);
  nodes.add(2 ** 40, nodes.generation);
  assert.equal(nodes.has(2 ** 40), true);
});
