import type { SampleNodes } from "../../../tree/tree.ts";
import type { NodeId } from "../../../tree/tree.ts";
import {
  columnOf,
  columnsOf,
  type DatasetNodes,
  localNode,
  rowOf,
} from "./dataset_nodes.ts";
import { ShardFact, type ShardFacts } from "./shard_facts.ts";
import { numberedNames } from "../../../tree/numbered_names.ts";
import type { TreeShards } from "./tree_shards.ts";

/**
 * The directories of a dataset's datapoints, across its shards. What is known of a shard once it has been opened is
 * enough to find them and to name them: those of a thousand shards, in any order, keep no shard open.
 */
export class DatasetSamples {
  readonly #nodes: DatasetNodes;
  readonly #facts: ShardFacts;
  readonly #shards: TreeShards;

  constructor(nodes: DatasetNodes, facts: ShardFacts, shards: TreeShards) {
    this.#nodes = nodes;
    this.#facts = facts;
    this.#shards = shards;
  }

  /** All of them: shards that nobody has looked at yet are opened. */
  nodes(): SampleNodes {
    const count = this.#nodes.shards ?? 1;
    const runs = Array.from({ length: count }, (_, shard) => {
      const keys = this.#fact(shard, ShardFact.KEYS);
      const first = this.#nodes.base(shard) + localNode(0, 0, keys);
      const length = this.#fact(shard, ShardFact.LENGTH);
      return { first, stride: columnsOf(keys), count: length };
    });
    return { areDirectories: true, runs };
  }

  /** The shard of a datapoint's directory, or -1 for every other node. */
  shardOf(node: NodeId): number {
    return this.#rowOf(node) < 0 ? -1 : this.#nodes.shardOf(node);
  }

  /** Writes the name of a datapoint's or a shard's directory, and returns its length; 0 for others. */
  nameOf(node: NodeId, into: Uint8Array): number {
    const shard = this.#nodes.shardOf(node);
    if (shard < 0) return 0;
    const { shards } = this.#nodes;
    if (shards !== undefined && node === this.#nodes.base(shard)) {
      return numberedNames(shards, "").write(shard, into);
    }
    const row = this.#rowOf(node);
    if (row < 0) return 0;
    const length = this.#fact(shard, ShardFact.LENGTH);
    return numberedNames(length, "").write(row, into);
  }

  /** The row of a datapoint's directory in its shard, or -1. */
  #rowOf(node: NodeId): number {
    const shard = this.#nodes.shardOf(node);
    if (shard < 0) return -1;
    const keys = this.#fact(shard, ShardFact.KEYS);
    const local = this.#nodes.localOf(node, shard);
    const row = rowOf(local, keys);
    const isDatapoint = row >= 0 && columnOf(local, keys) === 0 &&
      row < this.#fact(shard, ShardFact.LENGTH);
    return isDatapoint ? row : -1;
  }

  #fact(shard: number, fact: number): number {
    const known = this.#facts.get(shard, fact);
    if (known !== undefined) return known;
    this.#shards.shard(shard);
    return this.#facts.get(shard, fact)!;
  }
}
