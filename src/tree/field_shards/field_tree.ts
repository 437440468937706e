import { FormatError } from "../../base/errors.ts";
import { runAsync } from "../../io/concurrency/steps.ts";
import type { ByteSource } from "../../io/storage/byte_source.ts";
import {
  requireReached,
  storageInThread,
} from "../../io/storage/thread_storage.ts";
import { JoinedSources } from "../joined_sources.ts";
import { type NumberedNames, numberedNames } from "../names/numbered_names.ts";
import { type NodeView, valueView } from "../node_view.ts";
import { isIndex } from "../sample_indices.ts";
import { RowsTree } from "../samples/rows_tree.ts";
import { listNumbers } from "../samples/sample_tree.ts";
import type {
  EntryVisitor,
  Extent,
  LazySources,
  NodeId,
  Tree,
  TreeHandle,
} from "../tree.ts";
import type { ListEncoding } from "./encoding.ts";
import { loadDecoder } from "./compressed_shard.ts";
import type { Column } from "./shard_index.ts";
import { FieldSamples } from "./field_samples.ts";
import {
  isCompressed,
  type ShardFile,
  type ShardsHandle,
  ShardStore,
} from "./shard_store.ts";
import { ElementNodes } from "./element_nodes.ts";
import { SampleFiles, type ValueFile } from "./sample_files.ts";

interface Seed {
  readonly shards: ShardsHandle;
  readonly limit: NodeId | undefined;
}

/**
 * Samples as directories, numbered across all shards. Values are files, lists are directories of files.
 *
 * Node ids: those of samples and their values, lists included; then the elements of lists.
 */
export class FieldTree extends RowsTree<ShardFile> {
  readonly sources: Tree["sources"];
  readonly lastNode?: NodeId;
  readonly #store: ShardStore;
  readonly #files: SampleFiles;
  /** Per set of columns: the list columns. */
  readonly #lists: readonly (readonly number[])[];
  readonly #elements: ElementNodes;
  readonly #limit: NodeId | undefined;
  /** Value of the last looked up node. */
  readonly #value: ValueFile = {
    file: -1,
    sample: -1,
    column: -1,
    element: -1,
    list: -1,
  };

  /**
   * @param isOwner Whether its sources belong to this thread; otherwise they come from elsewhere.
   * @param limit Largest node id, unless the tree may use all ids.
   */
  constructor(
    samples: FieldSamples,
    isOwner: boolean,
    limit: NodeId | undefined,
  ) {
    const store = samples.shards;
    const { shards, sets } = store;
    super(store, undefined, ({ set }) => sets[set]!.length);
    this.#store = store;
    this.#limit = limit;
    this.#lists = sets.map((columns) =>
      columns.flatMap(({ isList }, i) => isList ? [i] : [])
    );
    if (!Number.isSafeInteger(this.nodeCount)) throw tooMany(store);
    this.#elements = new ElementNodes(
      this.nodeCount,
      store.length,
      this.#lists.reduce((most, { length }) => Math.max(most, length), 0),
      shards.reduce((most, { rawBytes }) => Math.max(most, rawBytes), 0),
      limit,
    );
    const { each, last } = this.#elements;
    if (last !== this.nodeCount) this.lastNode = last;
    const { sources, sourceOf } = sourcesOf(store, isOwner);
    this.sources = sources;
    this.#files = new SampleFiles(samples, sourceOf, each);
  }

  /** Number of lists, each a directory. Their element counts are unknown until they are read. */
  get listCount(): number {
    return this.#store.shards.reduce(
      (sum, { samples, set }) => sum + samples * this.#lists[set]!.length,
      0,
    );
  }

  override lookup(
    parent: NodeId,
    name: Uint8Array,
    start: number,
    end: number,
  ): NodeId {
    const list = this.#enterList(parent);
    if (list === undefined) return super.lookup(parent, name, start, end);
    const first = this.#firstElement();
    const count = this.#countIn(parent);
    const number = namesIn(list, count).parse(name, start, end);
    return isIndex(number, count) ? first + number : 0;
  }

  override parent(node: NodeId): NodeId {
    return this.#enterElement(node) ? this.#value.list : super.parent(node);
  }

  override isDirectory(node: NodeId): boolean {
    return super.isDirectory(node) || this.#enterList(node) !== undefined;
  }

  override list(dir: NodeId, cursor: number, visit: EntryVisitor): void {
    const list = this.#enterList(dir);
    if (list === undefined) return super.list(dir, cursor, visit);
    const first = this.#firstElement();
    const count = this.#countIn(dir);
    listNumbers(namesIn(list, count), count, first, cursor, visit);
  }

  locate(node: NodeId, into: Extent): boolean {
    if (!this.#enterFile(node)) return false;
    this.#files.locate(this.#value, into);
    return true;
  }

  share(): TreeHandle {
    const { path, storage } = this.#store;
    requireReached(path, storage);
    const data: Seed = { shards: this.#store.share(), limit: this.#limit };
    return { module: import.meta.url, data };
  }

  close(): void {
    this.#store.close();
  }

  override view(node: NodeId): NodeView | undefined {
    if (!this.#enterElement(node)) return super.view(node);
    return valueView(
      this.#column(this.#value.column).encoding.list!.element.type,
    );
  }

  protected override fieldsOf(shard: number): readonly Column[] {
    return this.#store.sets[this.#store.shards[shard]!.set]!;
  }

  protected override sizeOf(node: NodeId): number {
    return this.#enterFile(node) ? this.#files.size(this.#value) : -1;
  }

  /** Sets the current value from a file's node; returns `false` if the node is not a file. */
  #enterFile(node: NodeId): boolean {
    if (!this.enterField(node)) return this.#enterElement(node);
    const value = this.#value;
    value.file = node;
    value.sample = this.sample;
    value.column = this.field;
    value.element = -1;
    value.list = -1;
    return this.#column(this.field).encoding.list === undefined;
  }

  #listsOf(shard: number): readonly number[] {
    return this.#lists[this.#store.shards[shard]!.set]!;
  }

  #column(column: number): Column {
    return this.fieldsOf(this.shard)[column]!;
  }

  /** Returns the list encoding of a list directory's node, or `undefined`. */
  #enterList(node: NodeId): ListEncoding | undefined {
    return this.enterField(node)
      ? this.#column(this.field).encoding.list
      : undefined;
  }

  #firstElement(): NodeId {
    const list = this.#listsOf(this.shard).indexOf(this.field);
    return this.#elements.node(this.sample, list, 0);
  }

  #countIn(dir: NodeId): number {
    return this.#files.elements(this.sample, this.field, dir);
  }

  #enterElement(node: NodeId): boolean {
    const elements = this.#elements;
    if (!elements.enter(node)) return false;
    const { sample, number } = elements;
    this.shard = this.#store.shardOf(sample);
    this.sample = sample;
    this.number = sample - this.#store.firsts[this.shard]!;
    const column = this.#listsOf(this.shard)[elements.list];
    if (column === undefined) return false;
    const list = this.fieldNode(column);
    if (number >= this.#files.elements(sample, column, list)) return false;
    const value = this.#value;
    value.file = node;
    value.sample = sample;
    value.column = column;
    value.element = number;
    value.list = list;
    return true;
  }
}

function namesIn({ element }: ListEncoding, count: number): NumberedNames {
  return numberedNames(count, element.type.suffix);
}

function tooMany({ path, length }: ShardStore): FormatError {
  return new FormatError(
    "absurd-count",
    `Cannot show ${path}: its ${length} samples have more columns than ` +
      "can be numbered: it is damaged. Download it again",
    { path, actual: length },
  );
}

/** Returns the sources of shards: uncompressed ones are open from the start. */
function sourcesOf(
  store: ShardStore,
  isOwner: boolean,
): { readonly sources: Tree["sources"]; readonly sourceOf: Int32Array } {
  const { shards, path, storage } = store;
  const sourceOf = new Int32Array(shards.length).fill(-1);
  const plain: number[] = [];
  const compressed: number[] = [];
  for (const [shard, facts] of shards.entries()) {
    if (facts.damage?.whole === 0) continue; // never read
    (isCompressed(facts) ? compressed : plain).push(shard);
  }
  plain.forEach((shard, i) => sourceOf[shard] = i);
  compressed.forEach((shard, i) => sourceOf[shard] = plain.length + i);
  const opened: ByteSource[] = isOwner
    ? plain.map((shard) => store.at(shard)!)
    : [];
  if (compressed.length === 0) return { sources: opened, sourceOf };
  const lazy: LazySources = {
    path,
    storage,
    knownBytes: 0, // file sizes are known from the start
    at: (i) => i < compressed.length ? store.at(compressed[i]!) : undefined,
  };
  const sources = new JoinedSources(plain.length, opened, [lazy]);
  return { sources, sourceOf };
}

/** Rebuilds a shared tree in another thread, which reopens shards on demand. */
export async function reopenTree(data: unknown): Promise<Tree> {
  const { shards, limit } = data as Seed;
  // A thread that serves a mount cannot wait for the decoder later.
  for (const shard of shards.shards.filter(isCompressed)) {
    await runAsync(loadDecoder(shard));
  }
  const storage = storageInThread(shards.path);
  const samples = new FieldSamples(new ShardStore(shards, storage));
  return new FieldTree(samples, false, limit);
}
