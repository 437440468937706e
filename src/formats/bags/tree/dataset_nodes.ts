import { FormatError, RecordfsError } from "../../../base/errors.ts";
import { decodeName } from "../../../base/names.ts";
import { type NodeId, ROOT, type SampleNodes } from "../../../tree/tree.ts";
import { ShardFact, type TreeShards } from "./tree_shards.ts";
import {
  type NumberedNames,
  numberedNames,
} from "../../../tree/names/numbered_names.ts";
import { isDamage } from "../../../tree/samples/open_shards.ts";

/** Nodes that precede a shard's datapoints. A dataset without shards is its own shard, at the root. */
export const SHARD_DIRECTORY = 0;
export const SHARD_SPEC = 1;
const FIRST_ROW = 2;

/**
 * Computes the node ids of a dataset without counting: every shard has the same number of ids, used or not, and a
 * dataset that grows keeps its ids.
 *
 * Within a shard, row i has the nodes of datapoint i and of record i of each key, in columns: the datapoint's
 * directory, each key's file or list, each key's readable view, each key's record i as an element of a list, and that
 * element's view. An element that two datapoints share is one node.
 */
export class DatasetNodes {
  readonly shards: number | undefined;
  readonly #first: NodeId;
  readonly #stride: number;

  /**
   * @param shards Number of shards, or `undefined` for a dataset without shards.
   * @param last Largest id.
   */
  constructor(
    shards: number | undefined,
    last: NodeId = Number.MAX_SAFE_INTEGER,
  ) {
    this.shards = shards;
    this.#first = shards === undefined ? ROOT : ROOT + 1;
    const count = Math.max(shards ?? 1, 1);
    this.#stride = Math.floor((last - this.#first) / count);
  }

  /** Returns the shard of a node, or -1. */
  shardOf(node: NodeId): number {
    if (!Number.isSafeInteger(node) || node < this.#first) return -1;
    const shard = Math.floor((node - this.#first) / this.#stride);
    return shard < (this.shards ?? 1) ? shard : -1;
  }

  localOf(node: NodeId, shard: number): number {
    return node - this.base(shard);
  }

  base(shard: number): NodeId {
    return this.#first + shard * this.#stride;
  }

  /** Throws `too-large` if the rows need too many ids. By default, 1,000 shards of 20 keys have 10^11 rows each. */
  checkRoom(path: string, rows: number, keys: number): void {
    if (FIRST_ROW + rows * columnsOf(keys) <= this.#stride) return;
    throw new RecordfsError(
      "too-large",
      `Cannot show ${path} as files: ${rows} records of ${keys} ` +
        `keys${
          this.shards === undefined ? "" : ` in each of ${this.shards} shards`
        } ` + `are more than its ${this.#stride} inode numbers. Open ` +
        `${
          this.shards === undefined ? "it by itself" : "its shards one by one"
        }`,
      { path },
    );
  }
}

function columnsOf(keys: number): number {
  return 1 + 4 * keys;
}

export function localNode(row: number, column: number, keys: number): number {
  return FIRST_ROW + row * columnsOf(keys) + column;
}

/** Returns the row of a node within its shard; negative for nodes before the rows. */
export function rowOf(local: number, keys: number): number {
  return Math.floor((local - FIRST_ROW) / columnsOf(keys));
}

export function columnOf(local: number, keys: number): number {
  return (local - FIRST_ROW) % columnsOf(keys);
}

/** Returns the nodes of all datapoints. Opens shards that are not open yet. */
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

/** Returns the row of a datapoint's directory in its shard, or -1 for any other node. */
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

/** Writes the name of a datapoint's or a shard's directory, and returns its length; 0 for other nodes. */
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

interface TreeValue {
  readonly number: number;
  readonly key: number;
  /** Row of its datapoint in the shard; for an element, that of its record. */
  readonly row: number;
  readonly isElement: boolean;
}

/** Returns the error for reading a value of a key whose bag is damaged. */
export function damagedValue(
  shards: TreeShards,
  value: TreeValue,
): FormatError {
  const { number, key, row } = value;
  const { shard, keys } = shards.shard(number);
  let sample = row;
  for (let before = 0; before < number; before++) {
    sample += shards.fact(before, ShardFact.LENGTH);
  }
  return shards.shard(number).damaged(key)!.errorOf({
    key: keys[key]!.key,
    datapoint: row,
    sample,
    shard: shard.path,
    member: memberOf(shards, value),
  });
}

/** Adds the path of a value to an error about damage. Other errors are returned unchanged. */
export function asValueError(
  shards: TreeShards,
  value: TreeValue,
  error: unknown,
): unknown {
  if (!isDamage(error) || error.member !== undefined) return error;
  const member = memberOf(shards, value);
  const facts = { ...error, member, cause: error };
  return new FormatError(error.code, error.message, facts);
}

/** Returns the path of a value; for an element, which several lists may share, its key and record. */
function memberOf(
  shards: TreeShards,
  { number, key, row, isElement }: TreeValue,
): string {
  const { keys, rowNames } = shards.shard(number);
  const { key: name } = keys[key]!;
  const { shards: count } = shards.nodes;
  const into = new Uint8Array(64);
  const shown = (names: NumberedNames, number: number) =>
    decodeName(into, 0, names.write(number, into));
  return [
    ...count === undefined ? [] : [shown(numberedNames(count, ""), number)],
    ...isElement ? [name, `${row}`] : [shown(rowNames, row), name],
  ].join("/");
}
