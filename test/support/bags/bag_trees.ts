/** Compares trees of bags and datasets with their expected content. */
import { type VirtualFs } from "../../../src/tree/vfs/virtual_fs.ts";
import { reopenTree as reopenBag } from "../../../src/formats/bags/tree/bag_tree.ts";
import { reopenTree as reopenDecoded } from "../../../src/formats/bags/tree/decoded_views.ts";
import { reopenTree as reopenDataset } from "../../../src/formats/bags/tree/dataset_tree.ts";
import type { Tree } from "../../../src/tree/tree.ts";
import { assertConsistent as assertTreeConsistent } from "../../tree/support/consistent_tree.ts";
import { type DatasetContent, type ExpectedRecord } from "./bag_golden.ts";

/** Returns the name of the entry with index `i`, in a directory of less than a million entries. */
export const numberName = (i: number): string => String(i).padStart(6, "0");

/** Returns the expected files of a dataset by path, without `spec.json`. */
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

/** Reopens a tree from the data that it shares with other threads. */
export function reopened(tree: Tree): Tree {
  const { module, data } = tree.share();
  const copy = structuredClone(data); // keeps shared memory shared
  if (module.endsWith("bag_tree.ts")) return reopenBag(copy);
  return module.endsWith("decoded_views.ts")
    ? reopenDecoded(copy)
    : reopenDataset(copy);
}

/**
 * Compares the results of a tree's methods with each other, and with those of a copy for another thread.
 *
 * @returns Number of nodes.
 */
export function assertConsistent({ tree }: VirtualFs): number {
  const other = reopened(tree);
  const count = assertTreeConsistent(tree, other);
  other.close();
  return count;
}
