/** Trees of bags and datasets, compared with what should be in them. */
import assert from "node:assert/strict";
import { type VirtualFs } from "../../../src/open/mod.ts";
import { reopenTree as reopenBag } from "../../../src/formats/bags/tree/bag_tree.ts";
import { reopenTree as reopenDecoded } from "../../../src/formats/bags/tree/decoded_views.ts";
import { reopenTree as reopenDataset } from "../../../src/formats/bags/tree/dataset_tree.ts";
import { decodeName } from "../../../src/base/names.ts";
import {
  newExtent,
  newStat,
  type NodeId,
  ROOT,
  type Tree,
} from "../../../src/tree/tree.ts";
import { type DatasetContent, type ExpectedRecord } from "./bag_golden.ts";

/** Name of the `i`-th of few things. */
export const numberName = (i: number): string => String(i).padStart(6, "0");

/** The files of a dataset, without `spec.json`. */
export function filesOf(content: DatasetContent): Map<string, ExpectedRecord> {
  const files = new Map<string, ExpectedRecord>();
  const keys = Object.keys(content.spec);
  let datapoint = 0;
  for (const { name, length, bags } of content.shards) {
    const prefix = name === "." ? "" : `${name}/`;
    for (let i = 0; i < length; i++) {
      const references = content.refs?.[datapoint++];
      for (const [k, key] of keys.entries()) {
        const path = `${prefix}${numberName(i)}/${key}`;
        const at = references?.[k] ?? i;
        const { records } = bags[key]!;
        if (typeof at === "number") files.set(path, records[at]!);
        else {
          const [first = 0, count = 0] = at;
          for (let e = 0; e < count; e++) {
            files.set(`${path}/${numberName(e)}`, records[first + e]!);
          }
        }
      }
    }
  }
  return files;
}

/** A tree as another thread has it. */
export function reopened(tree: Tree): Tree {
  const { module, data } = tree.share();
  const copy = structuredClone(data); // shared memory stays shared
  if (module.endsWith("bag_tree.ts")) return reopenBag(copy);
  return module.endsWith("decoded_views.ts")
    ? reopenDecoded(copy)
    : reopenDataset(copy);
}

/**
 * Compares what a tree says of its nodes in different ways, and with what another thread's copy says.
 *
 * @returns How many nodes there are.
 */
export function assertConsistent({ tree }: VirtualFs): number {
  const other = reopened(tree);
  const nodes = new Set<NodeId>();
  const visit = (directory: NodeId) => {
    nodes.add(directory);
    const entries: { name: Uint8Array; node: NodeId; next: number }[] = [];
    tree.list(directory, 0, (name, start, end, node, next) => {
      entries.push({ name: name.slice(start, end), node, next });
      return true;
    });
    for (const [i, { name, node, next }] of entries.entries()) {
      const isDirectory = tree.isDirectory(node);
      for (const each of [tree, other]) {
        assert.equal(each.lookup(directory, name, 0, name.length), node);
        assert.equal(each.isDirectory(node), isDirectory);
        if (isDirectory) assert.equal(each.parent(node), directory);
        const following: string[] = [];
        each.list(directory, next, (bytes, start, end) => {
          following.push(decodeName(bytes, start, end));
          return false;
        });
        const expected = entries[i + 1];
        assert.deepEqual(
          following,
          expected === undefined ? [] : [decodeName(expected.name)],
        );
      }
      const [a, b] = [newStat(), newStat()];
      assert.ok(tree.stat(node, a) && other.stat(node, b));
      assert.deepEqual(a, b);
      const [x, y] = [newExtent(), newExtent()];
      assert.equal(tree.locate(node, x), !isDirectory);
      assert.equal(other.locate(node, y), !isDirectory);
      assert.deepEqual(x, y);
      assert.equal(x.length, a.size);
      if (isDirectory) visit(node);
      else nodes.add(node);
    }
  };
  visit(ROOT);
  for (const node of [0, -1, 1.5, NaN, 2 ** 53, Math.max(...nodes) + 2 ** 40]) {
    assert.equal(tree.isDirectory(node), false);
    assert.equal(tree.stat(node, newStat()), false);
    assert.equal(tree.locate(node, newExtent()), false);
    assert.equal(tree.lookup(node, Uint8Array.of(48), 0, 1), 0);
  }
  other.close();
  return nodes.size;
}
