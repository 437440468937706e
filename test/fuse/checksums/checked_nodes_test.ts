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

Deno.test("nodes beyond the table are never recorded, whatever their number", () => {
  const nodes = new CheckedNodes(newCheckedNodes(0));
  for (const node of [32, 2 ** 31, 2 ** 32 + 1, 2 ** 53 - 1]) {
    nodes.add(node, nodes.generation);
    assert.equal(nodes.has(node), false);
  }
  assert.equal(nodes.has(1), false);
});
