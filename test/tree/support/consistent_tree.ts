/** Asserts that all methods of a tree, and a copy in another thread, agree about its nodes. */
import assert from "node:assert/strict";
import { decodeName } from "../../../src/base/names.ts";
import { LONGEST_NAME } from "../../../src/tree/names/name_table_builder.ts";
import {
  newExtent,
  newStat,
  type NodeId,
  ROOT,
  type Tree,
} from "../../../src/tree/tree.ts";

interface Entry {
  readonly name: Uint8Array;
  readonly node: NodeId;
  readonly next: number;
}

/** Returns at most `most` entries of a directory from a cursor on. */
function entriesFrom(
  tree: Tree,
  directory: NodeId,
  cursor: number,
  most = Infinity,
): Entry[] {
  const entries: Entry[] = [];
  tree.list(directory, cursor, (name, start, end, node, next) => {
    if (entries.length === most) return false; // the page is full
    entries.push({ name: name.slice(start, end), node, next });
    return true;
  });
  return entries;
}

/** Asserts that no method accepts a node. */
function assertUnknown(tree: Tree, node: NodeId): void {
  assert.equal(tree.isDirectory(node), false);
  assert.equal(tree.stat(node, newStat()), false);
  assert.equal(tree.locate(node, newExtent()), false);
  assert.equal(tree.lookup(node, Uint8Array.of(48), 0, 1), 0);
}

/**
 * Compares what a tree's methods return for its nodes, and what another thread's copy returns.
 *
 * @returns Number of nodes.
 */
export function assertConsistent(tree: Tree, other: Tree): number {
  const nodes = new Set<NodeId>([ROOT]);
  const into = new Uint8Array(LONGEST_NAME);
  const visit = (directory: NodeId) => {
    const entries = entriesFrom(tree, directory, 0);
    for (const [i, { name, node, next }] of entries.entries()) {
      const what = `node ${node}, ${decodeName(name)}`;
      const isDirectory = tree.isDirectory(node);
      assert.ok(!nodes.has(node), what);
      nodes.add(node);
      assert.ok(node <= (tree.lastNode ?? Infinity), what);
      const [stat, again] = [newStat(), newStat()];
      assert.ok(tree.stat(node, stat) && other.stat(node, again), what);
      assert.deepEqual(again, stat, what);
      assert.equal(stat.isDirectory, isDirectory, what);
      for (const each of [tree, other]) {
        // Bytes around the name must be ignored.
        const framed = Uint8Array.of(47, ...name, 47);
        const end = framed.length - 1;
        assert.equal(each.lookup(directory, framed, 1, end), node, what);
        assert.equal(each.lookup(directory, framed, 1, end + 1), 0, what);
        assert.equal(each.isDirectory(node), isDirectory, what);
        const parent = each.parent(node);
        assert.ok(parent === directory || !isDirectory && parent === 0, what);
        if (each.nameOf !== undefined) {
          const length = each.nameOf(node, into);
          if (length > 0) assert.deepEqual(into.slice(0, length), name, what);
        }
        const following = entriesFrom(each, directory, next, 1);
        assert.deepEqual(following, entries.slice(i + 1, i + 2), what);
      }
      const [extent, there] = [newExtent(), newExtent()];
      assert.equal(other.locate(node, there), tree.locate(node, extent), what);
      assert.deepEqual(there, extent, what);
      if (!stat.isLink) {
        assert.equal(tree.locate(node, extent), !isDirectory, what);
        assert.equal(extent.length, stat.size, what);
      }
      if (isDirectory) visit(node);
    }
  };
  visit(ROOT);
  const last = Math.max(...nodes);
  const areAll = last === nodes.size; // some trees leave gaps between ids
  const beyond = tree.lastNode ?? (areAll ? last : last + 2 ** 40);
  for (const node of [0, -1, 1.5, NaN, beyond + 1, 2 ** 53]) {
    assertUnknown(tree, node);
    assertUnknown(other, node);
  }
  return nodes.size;
}
