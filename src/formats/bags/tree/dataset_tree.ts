import { RecordfsError } from "../../../base/errors.ts";
import { decodeName } from "../../../base/names.ts";
import type { Storage } from "../../../io/storage/storage.ts";
import { storageInThread } from "../../../io/storage/thread_storage.ts";
import type { NodeView } from "../../../tree/node_view.ts";
import { numberedNames } from "../../../tree/names/numbered_names.ts";
import {
  type EntryVisitor,
  type Extent,
  newExtent,
  type NodeId,
  type NodeStat,
  placeRange,
  ROOT,
  type SampleNodes,
  type Tree,
  type TreeHandle,
} from "../../../tree/tree.ts";
import {
  asValueError,
  columnOf,
  damagedValue,
  datapointNodes,
  datapointRow,
  DatasetNodes,
  localNode,
  rowOf,
  SHARD_DIRECTORY,
  SHARD_SPEC,
  writeName,
} from "./dataset_nodes.ts";
import { ShardFact, ShardFacts, TreeShards } from "./tree_shards.ts";
import { listNumbers } from "../../../tree/samples/sample_tree.ts";
import { valueView } from "../dataset/value_types.ts";
import { SPEC_FILE } from "../dataset/dataset_names.ts";
import type { TreeShard } from "./tree_shard.ts";
import { requireReached } from "../../../io/storage/thread_storage.ts";
import type { DecodedViews } from "./decoded_views.ts";

/** Data that other threads need to reopen the tree. */
interface SeedData extends Omit<DatasetTreeOptions, "views" | "storage"> {
  readonly facts: BigUint64Array<SharedArrayBuffer>;
}

interface DatasetTreeOptions {
  readonly path: string;
  readonly storage: Storage;
  /** Number of shards; `undefined` if the dataset is not sharded. */
  readonly shards: number | undefined;
  /** Readable views to show next to the values. */
  readonly views: DecodedViews | undefined;
  /** Largest node id, unless the tree may use all ids. */
  readonly lastNode: NodeId | undefined;
}

const SPEC_NAME = new TextEncoder().encode(SPEC_FILE);

/** Kinds of nodes within a row, in the order of the columns of {@linkcode DatasetNodes}. */
const Role = { DATAPOINT: 0, KEY: 1, VIEW: 2, ELEMENT: 3, ELEMENT_VIEW: 4 };

/**
 * A dataset as files: `000042/KEY`, or `000042/KEY/000000` if the type is a list; in a sharded dataset, below `000000`
 * and so on. Opening the tree reads no data. A shard is opened on first access, and pages of indexes and references are
 * read on demand.
 *
 * Damage is reported where it is: for a shard that can't be opened, a datapoint with wrong references (its directory
 * still lists the keys), or a record with wrong limits.
 */
export class DatasetTree implements Tree {
  readonly sources: TreeShards;
  readonly #options: DatasetTreeOptions;
  readonly #facts: ShardFacts;
  readonly #nodes: DatasetNodes;
  readonly #shardNames;
  readonly #extent = newExtent();
  readonly #name = new Uint8Array(64);
  // The node entered last.
  #number = 0;
  #shard!: TreeShard;
  #row = 0;
  #role = Role.DATAPOINT;
  #key = 0;

  constructor(
    options: DatasetTreeOptions,
    facts = new ShardFacts(options.shards ?? 1),
  ) {
    const { shards } = options;
    this.#options = options;
    this.#facts = facts;
    this.#nodes = new DatasetNodes(shards, options.lastNode);
    this.#shardNames = numberedNames(shards ?? 0, "");
    this.sources = new TreeShards({ ...options, nodes: this.#nodes, facts });
  }

  /** Number of nodes in the shards that have been opened. */
  get nodeCount(): number {
    const nodes = this.#facts.sum(ShardFact.NODES);
    return this.#options.shards === undefined ? nodes : nodes + 1;
  }

  get lastNode(): NodeId | undefined {
    return this.#options.lastNode;
  }

  lookup(
    parent: NodeId,
    name: Uint8Array,
    start: number,
    end: number,
  ): NodeId {
    const { shards } = this.#options;
    if (parent === ROOT && shards !== undefined) {
      const shard = this.#shardNames.parse(name, start, end);
      const isThere = shard >= 0 && shard < shards &&
        !this.sources.isLost(shard);
      return isThere ? this.#nodes.base(shard) : 0;
    }
    const local = this.#enterShard(parent);
    if (local < 0 || local === SHARD_SPEC) return 0;
    if (local === SHARD_DIRECTORY) return this.#lookupRow(name, start, end);
    if (!this.#enterRow(local)) return 0;
    if (this.#role === Role.DATAPOINT) {
      const { names } = this.#shard;
      const record = names.record(names.lookup(ROOT, name, start, end));
      return record < 0 ? 0 : parent + 1 + record; // in the order of the columns
    }
    return this.#isListDirectory() ? this.#lookupElement(name, start, end) : 0;
  }

  parent(node: NodeId): NodeId {
    if (datapointRow(this.sources, node) >= 0) {
      return this.#nodes.base(this.#nodes.shardOf(node)); // without opening the shard
    }
    const local = this.#enterShard(node);
    if (local < 0 || local === SHARD_DIRECTORY) return ROOT;
    const base = this.#nodes.base(this.#number);
    if (local === SHARD_SPEC) return base;
    if (!this.#enterRow(local)) return 0;
    // An element may be in several lists; only their references tell which.
    return this.#role === Role.KEY || this.#role === Role.VIEW
      ? this.#node(this.#row, Role.DATAPOINT, 0)
      : 0;
  }

  isDirectory(node: NodeId): boolean {
    if (node === ROOT) return true;
    const local = this.#enterShard(node);
    if (local <= SHARD_SPEC) return local === SHARD_DIRECTORY;
    if (!this.#enterRow(local)) return false;
    return this.#role === Role.DATAPOINT || this.#isListDirectory();
  }

  list(dir: NodeId, cursor: number, visit: EntryVisitor): void {
    if (dir === ROOT && this.#options.shards !== undefined) {
      return this.#listShards(cursor, visit);
    }
    const local = this.#enterShard(dir);
    if (local < 0 || local === SHARD_SPEC) return;
    if (local === SHARD_DIRECTORY) return this.#listRows(cursor, visit);
    if (!this.#enterRow(local)) return;
    if (this.#role === Role.DATAPOINT) this.#listKeys(cursor, visit);
    else if (this.#isListDirectory()) this.#listElements(cursor, visit);
  }

  stat(node: NodeId, into: NodeStat): boolean {
    into.size = 0;
    into.isDirectory = this.isDirectory(node);
    if (node === ROOT) {
      into.mtime = this.sources.mtime(this.sources.firstKnown);
      return true;
    }
    if (!into.isDirectory) {
      if (!this.locate(node, this.#extent)) return false;
      into.size = this.#extent.length;
    }
    into.mtime = this.sources.mtime(this.#nodes.shardOf(node));
    return true;
  }

  locate(node: NodeId, into: Extent): boolean {
    const local = this.#enterShard(node);
    if (local < 0 || local === SHARD_DIRECTORY) return false;
    if (local === SHARD_SPEC) {
      const source = this.sources.sourceOf(this.#number, 0);
      placeRange(source, 0, this.#shard.shard.spec.size, into);
      return true;
    }
    if (!this.#enterRow(local) || this.#role === Role.DATAPOINT) return false;
    if (this.#isListDirectory()) return false;
    const shard = this.#shard;
    const key = this.#key;
    if (shard.damaged(key) !== undefined) {
      throw damagedValue(this.sources, this.#value);
    }
    const isElement = this.#role >= Role.ELEMENT;
    try {
      const record = isElement ? this.#row : shard.first(key, this.#row);
      const source = this.sources.sourceOf(this.#number, key + 1);
      shard.bag(key).place(record, source, into);
      if (this.#role === Role.VIEW || this.#role === Role.ELEMENT_VIEW) {
        this.#options.views!.replace(node, shard, key, record, into);
      }
      return true;
    } catch (error) {
      throw asValueError(this.sources, this.#value, error);
    }
  }

  samples(): SampleNodes {
    return datapointNodes(this.sources);
  }

  view(node: NodeId): NodeView | undefined {
    const local = this.#enterShard(node);
    if (local <= SHARD_SPEC || !this.#enterRow(local)) return undefined;
    switch (this.#role) {
      case Role.DATAPOINT:
        return { kind: "datapoint" };
      case Role.KEY:
      case Role.ELEMENT: {
        const { keys, shard } = this.#shard;
        const isList = this.#isListDirectory();
        return valueView(keys[this.#key]!.type, shard.generation, isList);
      }
      default:
        return undefined; // a readable view is an ordinary file
    }
  }

  nameOf(node: NodeId, into: Uint8Array): number {
    return writeName(this.sources, node, into);
  }

  share(): TreeHandle {
    const { views, storage, ...options } = this.#options;
    requireReached(options.path, storage);
    const data: SeedData = { ...options, facts: this.#facts.memory };
    return { module: views?.module ?? import.meta.url, data };
  }

  close(): void {
    this.sources.close();
  }

  /** Sets the current shard to that of a node. Returns the node's number in the shard, or -1 if there is none. */
  #enterShard(node: NodeId): number {
    const number = this.#nodes.shardOf(node);
    if (number < 0) return -1;
    this.#shard = this.sources.shard(number); // if this throws, no state has changed
    this.#number = number;
    return this.#nodes.localOf(node, number);
  }

  /** Sets the current row, role and key from a node's number in the shard. Returns `false` if there is no such node. */
  #enterRow(local: number): boolean {
    const { keys, length, suffixes } = this.#shard;
    const column = columnOf(local, keys.length);
    this.#row = rowOf(local, keys.length);
    if (column === 0) {
      this.#role = Role.DATAPOINT;
      return this.#row < length;
    }
    const key = (column - 1) % keys.length;
    this.#key = key;
    this.#role = 1 + Math.floor((column - 1) / keys.length);
    const isView = this.#role === Role.VIEW || this.#role === Role.ELEMENT_VIEW;
    if (isView && suffixes[key] === undefined) return false;
    const isList = this.#shard.isList(key);
    if (this.#role === Role.KEY) return this.#row < length;
    if (this.#role === Role.VIEW) return !isList && this.#row < length;
    return isList && this.#row < this.#shard.bag(key).length;
  }

  get #value() {
    const isElement = this.#role >= Role.ELEMENT;
    const [number, key, row] = [this.#number, this.#key, this.#row];
    return { number, key, row, isElement };
  }

  #count(): number {
    try {
      return this.#shard.count(this.#key, this.#row);
    } catch (error) {
      throw asValueError(this.sources, this.#value, error);
    }
  }

  #isListDirectory(): boolean {
    return this.#role === Role.KEY && this.#shard.isList(this.#key);
  }

  #node(row: number, role: number, key: number): NodeId {
    const keys = this.#shard.keys.length;
    const column = role === Role.DATAPOINT ? 0 : 1 + (role - 1) * keys + key;
    return this.#nodes.base(this.#number) + localNode(row, column, keys);
  }

  #lookupRow(name: Uint8Array, start: number, end: number): NodeId {
    const { rowNames, length } = this.#shard;
    const row = rowNames.parse(name, start, end);
    if (row >= 0) return row < length ? this.#node(row, Role.DATAPOINT, 0) : 0;
    return decodeName(name, start, end) === SPEC_FILE
      ? this.#nodes.base(this.#number) + SHARD_SPEC
      : 0;
  }

  #lookupElement(name: Uint8Array, start: number, end: number): NodeId {
    const shard = this.#shard;
    const key = this.#key;
    const count = this.#count();
    const suffix = shard.suffixes[key];
    let role = Role.ELEMENT;
    let element = numberedNames(count, "").parse(name, start, end);
    if (element < 0 && suffix !== undefined) {
      role = Role.ELEMENT_VIEW;
      element = numberedNames(count, suffix).parse(name, start, end);
    }
    if (element < 0 || element >= count) return 0;
    return this.#node(shard.first(key, this.#row) + element, role, key);
  }

  #listShards(cursor: number, visit: EntryVisitor): void {
    const shards = this.#options.shards!;
    const first = this.#nodes.base(0);
    const visitSound: EntryVisitor = (name, start, end, node, next) =>
      this.sources.isLost(next - 1) || visit(name, start, end, node, next);
    const stride = this.#nodes.base(1) - first;
    listNumbers(this.#shardNames, shards, first, cursor, visitSound, stride);
  }

  /** Lists datapoints. The visitor may look up other nodes, which changes the current node. */
  #listRows(cursor: number, visit: EntryVisitor): void {
    const { rowNames, length } = this.#shard;
    const first = this.#node(0, Role.DATAPOINT, 0);
    const stride = this.#node(1, Role.DATAPOINT, 0) - first;
    if (cursor === 0) {
      const node = this.#nodes.base(this.#number) + SHARD_SPEC;
      if (!visit(SPEC_NAME, 0, SPEC_NAME.length, node, 1)) return;
    }
    const visitRow: EntryVisitor = (name, start, end, node, next) =>
      visit(name, start, end, node, next + 1);
    const from = Math.max(cursor - 1, 0);
    listNumbers(rowNames, length, first, from, visitRow, stride);
  }

  #listKeys(cursor: number, visit: EntryVisitor): void {
    const { names } = this.#shard;
    const datapoint = this.#node(this.#row, Role.DATAPOINT, 0);
    names.list(ROOT, cursor, (name, start, end, entry, next) => {
      // Record numbers of names follow the order of the columns after the directory's.
      const node = datapoint + 1 + names.record(entry);
      return visit(name, start, end, node, next);
    });
  }

  #listElements(cursor: number, visit: EntryVisitor): void {
    const shard = this.#shard;
    const key = this.#key;
    const count = this.#count();
    if (count === 0) return;
    const first = this.#node(shard.first(key, this.#row), Role.ELEMENT, key);
    const viewFirst = first + shard.keys.length;
    const perRow = this.#node(1, Role.DATAPOINT, 0) -
      this.#node(0, Role.DATAPOINT, 0);
    const suffix = shard.suffixes[key];
    const names = [numberedNames(count, "")];
    if (suffix !== undefined) names.push(numberedNames(count, suffix));
    for (let at = cursor; at < count * names.length; at++) {
      const element = Math.floor(at / names.length);
      const isView = at % names.length === 1;
      const end = names[isView ? 1 : 0]!.write(element, this.#name);
      const node = (isView ? viewFirst : first) + element * perRow;
      if (!visit(this.#name, 0, end, node, at + 1)) return;
    }
  }
}

/** Reopens a shared tree in another thread, which opens shards itself. */
export function reopenTree(data: unknown, views?: DecodedViews): Tree {
  const { facts, ...options } = data as SeedData;
  if (!(facts instanceof BigUint64Array)) {
    throw new RecordfsError(
      "bad-handle",
      "Not a handle of a dataset's tree",
    );
  }
  return new DatasetTree(
    { ...options, storage: storageInThread(options.path), views },
    new ShardFacts(options.shards ?? 1, facts),
  );
}
