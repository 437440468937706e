import { runAsync } from "../../../io/concurrency/steps.ts";
import { isIndex } from "../../../tree/sample_indices.ts";
import { FormatError } from "../../../base/errors.ts";
import { decodeName } from "../../../base/names.ts";
import type { ByteSource } from "../../../io/storage/byte_source.ts";
import {
  requireReached,
  storageInThread,
} from "../../../io/storage/thread_storage.ts";
import { JoinedSources } from "../../../tree/joined_sources.ts";
import {
  type NumberedNames,
  numberedNames,
} from "../../../tree/names/numbered_names.ts";
import type { NodeView } from "../../../tree/node_view.ts";
import {
  type EntryVisitor,
  type Extent,
  type LazySources,
  type NodeId,
  type NodeStat,
  ROOT,
  type SampleNodes,
  type Tree,
  type TreeHandle,
} from "../../../tree/tree.ts";
import type { ListEncoding } from "../encodings/encoding.ts";
import { loadDecoder } from "../read/compressed_shard.ts";
import type { Column } from "../read/index_file.ts";
import { MdsSamples } from "../read/mds_samples.ts";
import {
  isCompressed,
  type ShardsHandle,
  ShardStore,
} from "../read/shard_store.ts";
import { columnView, elementView } from "./column_view.ts";
import { ElementNodes } from "./element_nodes.ts";
import { type FileNames, fileNames } from "./file_names.ts";
import { SampleFiles, type ValueFile } from "./sample_files.ts";

/** What another thread rebuilds a tree from. */
interface Seed {
  readonly shards: ShardsHandle;
  readonly limit: NodeId | undefined;
}

/**
 * Samples as directories, named by their numbers over all shards; their values are files, and lists directories of such.
 *
 * Node ids: the root, all samples, and their files, each sample with as many ids as the one with most files; then the
 * elements of lists.
 */
export class MdsTree implements Tree {
  readonly sources: Tree["sources"];
  readonly lastNode?: NodeId;
  readonly nodeCount: number;
  readonly #store: ShardStore;
  readonly #files: SampleFiles;
  readonly #sets: readonly FileNames[];
  readonly #names: NumberedNames;
  readonly #most: number;
  readonly #firstFile: NodeId;
  readonly #mtime: number;
  readonly #elements: ElementNodes;
  readonly #limit: NodeId | undefined;
  readonly #name = new Uint8Array(32);
  /** The value that a node is, which was looked at last. */
  readonly #value: ValueFile = {
    file: -1,
    sample: -1,
    column: -1,
    element: -1,
    list: -1,
  };

  /**
   * @param isOwner Whether its sources are those of this thread; otherwise they come from elsewhere.
   * @param limit The largest id that a node may have, unless the tree has all of them to itself.
   */
  constructor(
    samples: MdsSamples,
    isOwner: boolean,
    limit: NodeId | undefined,
  ) {
    const store = this.#store = samples.shards;
    this.#limit = limit;
    this.#sets = store.sets.map((columns) => fileNames(columns, store.path));
    this.#most = this.#sets.reduce(
      (most, { names }) => Math.max(most, names.length),
      0,
    );
    this.#names = numberedNames(store.length, "");
    this.#firstFile = ROOT + 1 + store.length;
    const last = this.#firstFile - 1 + store.length * this.#most;
    if (!Number.isSafeInteger(last)) throw tooMany(store);
    const { shards } = store;
    this.#elements = new ElementNodes(
      last,
      store.length,
      this.#sets.reduce((most, { lists }) => Math.max(most, lists.length), 0),
      shards.reduce((most, { rawBytes }) => Math.max(most, rawBytes), 0),
      limit,
    );
    this.nodeCount = this.#firstFile - 1 + this.fileCount + this.listCount;
    if (this.#elements.last !== this.nodeCount) {
      this.lastNode = this.#elements.last;
    }
    this.#mtime = shards.reduce((last, { mtime }) => Math.max(last, mtime), 0);
    const { sources, sourceOf } = sourcesOf(store, isOwner);
    this.sources = sources;
    this.#files = new SampleFiles(samples, sourceOf, this.#elements.each);
  }

  /** How many files there are; those of lists are not counted: nobody knows their number before lists are read. */
  get fileCount(): number {
    return this.#store.shards.reduce((sum, { samples, set }) => {
      const { names, lists } = this.#sets[set]!;
      return sum + samples * (names.length - lists.length);
    }, 0);
  }

  /** How many lists there are, which are directories. */
  get listCount(): number {
    return this.#store.shards.reduce(
      (sum, { samples, set }) => sum + samples * this.#sets[set]!.lists.length,
      0,
    );
  }

  lookup(
    parent: NodeId,
    name: Uint8Array,
    start: number,
    end: number,
  ): NodeId {
    if (parent === ROOT) {
      const sample = this.#names.parse(name, start, end);
      return sample >= 0 && sample < this.#store.length ? ROOT + 1 + sample : 0;
    }
    const sample = this.#sample(parent);
    if (sample < 0) {
      const list = this.#list(parent);
      if (list === undefined) return 0;
      const count = this.#countIn(parent);
      const number = namesIn(list, count).parse(name, start, end);
      return number >= 0 && number < count ? this.#element(parent, number) : 0;
    }
    const { byName } = this.#namesOf(sample);
    const column = byName.get(decodeName(name, start, end));
    return column === undefined ? 0 : this.#node(sample, column);
  }

  parent(node: NodeId): NodeId {
    const file = node - this.#firstFile;
    if (!this.#isFile(file)) {
      return this.#enterElement(node)
        ? this.#firstFile + this.#value.list
        : ROOT;
    }
    return ROOT + 1 + Math.floor(file / this.#most);
  }

  isDirectory(node: NodeId): boolean {
    return node === ROOT || this.#sample(node) >= 0 ||
      this.#list(node) !== undefined;
  }

  list(dir: NodeId, cursor: number, visit: EntryVisitor): void {
    if (dir === ROOT) {
      for (let sample = cursor; sample < this.#store.length; sample++) {
        const end = this.#names.write(sample, this.#name);
        const node = ROOT + 1 + sample;
        if (!visit(this.#name, 0, end, node, sample + 1)) return;
      }
      return;
    }
    const sample = this.#sample(dir);
    if (sample < 0) return this.#listElements(dir, cursor, visit);
    const { names } = this.#namesOf(sample);
    for (let column = cursor; column < names.length; column++) {
      const name = names[column]!;
      const node = this.#node(sample, column);
      if (!visit(name, 0, name.length, node, column + 1)) return;
    }
  }

  stat(node: NodeId, into: NodeStat): boolean {
    into.mtime = this.#mtime;
    into.size = 0;
    into.isDirectory = this.isDirectory(node);
    if (into.isDirectory) return true;
    if (!this.#enterValue(node)) return false;
    into.size = this.#files.size(this.#value);
    return true;
  }

  locate(node: NodeId, into: Extent): boolean {
    if (!this.#enterValue(node)) return false;
    this.#files.locate(this.#value, into);
    return true;
  }

  samples(): SampleNodes {
    const count = this.#store.length;
    const runs = count === 0 ? [] : [{ first: ROOT + 1, stride: 1, count }];
    return { areDirectories: true, runs };
  }

  nameOf(node: NodeId, into: Uint8Array): number {
    const sample = this.#sample(node);
    return sample < 0 ? 0 : this.#names.write(sample, into);
  }

  view(node: NodeId): NodeView | undefined {
    if (this.#sample(node) >= 0) return { kind: "datapoint" };
    const file = node - this.#firstFile;
    if (this.#isFile(file)) return columnView(this.#columnOf(file));
    if (!this.#enterElement(node)) return undefined;
    return elementView(this.#columnOf(this.#value.list).encoding.list!);
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

  #namesOf(sample: number): FileNames {
    return this.#sets[this.#store.of(sample).set]!;
  }

  #sample(node: NodeId): number {
    const sample = node - ROOT - 1;
    return isIndex(sample, this.#store.length) ? sample : -1;
  }

  /** How a list is written whose directory a node is. */
  #list(node: NodeId): ListEncoding | undefined {
    const file = node - this.#firstFile;
    return this.#isFile(file) ? this.#columnOf(file).encoding.list : undefined;
  }

  #columnOf(file: number): Column {
    const sample = Math.floor(file / this.#most);
    return this.#store.columnsOf(sample)[file % this.#most]!;
  }

  /** How many elements are in the directory of a list. */
  #countIn(dir: NodeId): number {
    const file = dir - this.#firstFile;
    const sample = Math.floor(file / this.#most);
    return this.#files.elements(sample, file % this.#most, file);
  }

  #element(dir: NodeId, number: number): NodeId {
    const file = dir - this.#firstFile;
    const sample = Math.floor(file / this.#most);
    const { lists } = this.#namesOf(sample);
    return this.#elements.node(
      sample,
      lists.indexOf(file % this.#most),
      number,
    );
  }

  #listElements(dir: NodeId, cursor: number, visit: EntryVisitor): void {
    const list = this.#list(dir);
    if (list === undefined) return;
    const count = this.#countIn(dir);
    const names = namesIn(list, count);
    for (let number = cursor; number < count; number++) {
      const end = names.write(number, this.#name);
      const node = this.#element(dir, number);
      if (!visit(this.#name, 0, end, node, number + 1)) return;
    }
  }

  /** Looks which value a file is; `false` if the node is none. */
  #enterValue(node: NodeId): boolean {
    const file = node - this.#firstFile;
    if (!this.#isFile(file)) return this.#enterElement(node);
    if (this.#columnOf(file).encoding.list !== undefined) return false;
    const value = this.#value;
    value.file = file;
    value.sample = Math.floor(file / this.#most);
    value.column = file % this.#most;
    value.element = -1;
    value.list = -1;
    return true;
  }

  #enterElement(node: NodeId): boolean {
    const elements = this.#elements;
    if (!elements.enter(node)) return false;
    const { sample, number } = elements;
    const column = this.#namesOf(sample).lists[elements.list];
    if (column === undefined) return false;
    const list = sample * this.#most + column;
    if (number >= this.#files.elements(sample, column, list)) return false;
    const value = this.#value;
    value.file = node - this.#firstFile;
    value.sample = sample;
    value.column = column;
    value.element = number;
    value.list = list;
    return true;
  }

  #node(sample: number, column: number): NodeId {
    return this.#firstFile + sample * this.#most + column;
  }

  #isFile(file: number): boolean {
    if (!Number.isInteger(file) || file < 0) return false;
    const sample = Math.floor(file / this.#most);
    return sample < this.#store.length &&
      file % this.#most < this.#namesOf(sample).names.length;
  }
}

function namesIn({ element }: ListEncoding, count: number): NumberedNames {
  return numberedNames(count, element.suffix);
}

function tooMany({ path, length }: ShardStore): FormatError {
  return new FormatError(
    "absurd-count",
    `${path} has ${length} samples of more columns than can be numbered: it is damaged; fetch it again`,
    { path, actual: length },
  );
}

/** Sources of shards: those that are not compressed are open from the start. */
function sourcesOf(
  store: ShardStore,
  isOwner: boolean,
): { readonly sources: Tree["sources"]; readonly sourceOf: Int32Array } {
  const { shards, path, storage } = store;
  const sourceOf = new Int32Array(shards.length);
  const plain: number[] = [];
  const compressed: number[] = [];
  for (const [shard, facts] of shards.entries()) {
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
    knownBytes: 0, // those of the files are known
    at: (i) => i < compressed.length ? store.at(compressed[i]!) : undefined,
  };
  const sources = new JoinedSources(plain.length, opened, [lazy]);
  return { sources, sourceOf };
}

/** Rebuilds a shared tree in another thread, which opens shards again when it needs them. */
export async function reopenTree(data: unknown): Promise<Tree> {
  const { shards, limit } = data as Seed;
  // A thread that serves a mount cannot wait for it later.
  for (const shard of shards.shards.filter(isCompressed)) {
    await runAsync(loadDecoder(shard));
  }
  const storage = storageInThread(shards.path);
  const samples = new MdsSamples(new ShardStore(shards, storage));
  return new MdsTree(samples, false, limit);
}
