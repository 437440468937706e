import { FormatError } from "../../../errors.ts";
import { decodeName } from "../../../names.ts";
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
import {
  isCompressed,
  type ShardsHandle,
  ShardStore,
} from "../read/shard_store.ts";
import { columnView } from "./column_view.ts";
import { type FileNames, fileNames } from "./file_names.ts";
import { SampleFiles } from "./sample_files.ts";

/**
 * Samples as directories, named by their numbers over all shards; their values are files.
 *
 * Node ids: the root, all samples, and their files, each sample with as many ids as the one with most files.
 */
export class MdsTree implements Tree {
  readonly sources: Tree["sources"];
  readonly lastNode?: NodeId;
  readonly nodeCount: number;
  readonly store: ShardStore;
  readonly #files: SampleFiles;
  readonly #sets: readonly FileNames[];
  readonly #names: NumberedNames;
  readonly #most: number;
  readonly #firstFile: NodeId;
  readonly #mtime: number;
  readonly #name = new Uint8Array(32);

  /** @param isOwner Whether its sources are those of this thread; otherwise they come from elsewhere. */
  constructor(store: ShardStore, isOwner: boolean) {
    this.store = store;
    this.#sets = store.sets.map((columns) => fileNames(columns, store.path));
    this.#most = this.#sets.reduce(
      (most, { names }) => Math.max(most, names.length),
      0,
    );
    this.#names = numberedNames(store.length, "");
    this.#firstFile = ROOT + 1 + store.length;
    const last = this.#firstFile - 1 + store.length * this.#most;
    if (!Number.isSafeInteger(last)) throw tooMany(store);
    this.nodeCount = this.#firstFile - 1 + this.fileCount;
    if (last !== this.nodeCount) this.lastNode = last;
    const { shards } = store;
    this.#mtime = shards.reduce((last, { mtime }) => Math.max(last, mtime), 0);
    const { sources, sourceOf } = sourcesOf(store, isOwner);
    this.sources = sources;
    this.#files = new SampleFiles(store, sourceOf);
  }

  /** How many files there are. */
  get fileCount(): number {
    return this.store.shards.reduce(
      (sum, { samples, set }) => sum + samples * this.#sets[set]!.names.length,
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
      return sample >= 0 && sample < this.store.length ? ROOT + 1 + sample : 0;
    }
    const sample = this.#sample(parent);
    if (sample < 0) return 0;
    const { byName } = this.#namesOf(sample);
    const column = byName.get(decodeName(name, start, end));
    return column === undefined ? 0 : this.#node(sample, column);
  }

  parent(node: NodeId): NodeId {
    const file = node - this.#firstFile;
    if (!this.#isFile(file)) return ROOT;
    return ROOT + 1 + Math.floor(file / this.#most);
  }

  isDirectory(node: NodeId): boolean {
    return node === ROOT || this.#sample(node) >= 0;
  }

  list(dir: NodeId, cursor: number, visit: EntryVisitor): void {
    if (dir === ROOT) {
      for (let sample = cursor; sample < this.store.length; sample++) {
        const end = this.#names.write(sample, this.#name);
        const node = ROOT + 1 + sample;
        if (!visit(this.#name, 0, end, node, sample + 1)) return;
      }
      return;
    }
    const sample = this.#sample(dir);
    if (sample < 0) return;
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
    const file = node - this.#firstFile;
    if (!this.#isFile(file)) return false;
    const sample = Math.floor(file / this.#most);
    into.size = this.#files.size(sample, file % this.#most, file);
    return true;
  }

  locate(node: NodeId, into: Extent): boolean {
    const file = node - this.#firstFile;
    if (!this.#isFile(file)) return false;
    const sample = Math.floor(file / this.#most);
    this.#files.locate(sample, file % this.#most, file, into);
    return true;
  }

  samples(): SampleNodes {
    const count = this.store.length;
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
    if (!this.#isFile(file)) return undefined;
    const shard = this.store.shardOf(Math.floor(file / this.#most));
    return columnView(this.store.columnsOf(shard)[file % this.#most]!);
  }

  share(): TreeHandle {
    const { path, storage } = this.store;
    requireReached(path, storage);
    return { module: import.meta.url, data: this.store.share() };
  }

  close(): void {
    this.store.close();
  }

  #namesOf(sample: number): FileNames {
    return this.#sets[this.store.shards[this.store.shardOf(sample)]!.set]!;
  }

  #sample(node: NodeId): number {
    const sample = node - ROOT - 1;
    return Number.isInteger(sample) && sample >= 0 && sample < this.store.length
      ? sample
      : -1;
  }

  #node(sample: number, column: number): NodeId {
    return this.#firstFile + sample * this.#most + column;
  }

  #isFile(file: number): boolean {
    if (!Number.isInteger(file) || file < 0) return false;
    const sample = Math.floor(file / this.#most);
    return sample < this.store.length &&
      file % this.#most < this.#namesOf(sample).names.length;
  }
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
export function reopenTree(data: unknown): Tree {
  const handle = data as ShardsHandle;
  return new MdsTree(
    new ShardStore(handle, storageInThread(handle.path)),
    false,
  );
}
