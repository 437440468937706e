/**
 * The directories of a dataset's datapoints, across its shards. What is known of a shard once it has been opened is
 * enough to find them and to name them: those of a thousand shards, in any order, keep no shard open.
 *
 * @module
 */
import type { NodeId, SampleNodes } from "../../../tree/tree.ts";
import { columnOf, columnsOf, localNode, rowOf } from "./dataset_nodes.ts";
import { ShardFact } from "./shard_facts.ts";
import { numberedNames } from "../../../tree/numbered_names.ts";
import type { TreeShards } from "./tree_shards.ts";

/** All of them: shards that nobody has looked at yet are opened. */
export function datapointNodes(shards: TreeShards): SampleNodes {
  const { nodes } = shards;
  const runs = Array.from({ length: nodes.shards ?? 1 }, (_, shard) => {
    const keys = shards.fact(shard, ShardFact.KEYS);
    const first = nodes.base(shard) + localNode(0, 0, keys);
    const count = shards.fact(shard, ShardFact.LENGTH);
    return { first, stride: columnsOf(keys), count };
  });
  return { areDirectories: true, runs };
}

/** The row of a datapoint's directory in its shard, or -1 for every other node. */
export function datapointRow(shards: TreeShards, node: NodeId): number {
  const { nodes } = shards;
  const shard = nodes.shardOf(node);
  if (shard < 0) return -1;
  const keys = shards.fact(shard, ShardFact.KEYS);
  const local = nodes.localOf(node, shard);
  const row = rowOf(local, keys);
  const isDatapoint = row >= 0 && columnOf(local, keys) === 0 &&
    row < shards.fact(shard, ShardFact.LENGTH);
  return isDatapoint ? row : -1;
}

/** Writes the name of a datapoint's or a shard's directory, and returns its length; 0 for others. */
export function writeName(
  shards: TreeShards,
  node: NodeId,
  into: Uint8Array,
): number {
  const { nodes } = shards;
  const shard = nodes.shardOf(node);
  if (shard < 0) return 0;
  if (nodes.shards !== undefined && node === nodes.base(shard)) {
    return numberedNames(nodes.shards, "").write(shard, into);
  }
  const row = datapointRow(shards, node);
  if (row < 0) return 0;
  const length = shards.fact(shard, ShardFact.LENGTH);
  return numberedNames(length, "").write(row, into);
}
