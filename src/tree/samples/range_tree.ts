import type { KnownFile } from "../../io/storage/changed_file.ts";
import {
  requireReached,
  storageInThread,
} from "../../io/storage/thread_storage.ts";
import { type AddedFile, withFiles } from "../trees/added_files.ts";
import {
  type Extent,
  newExtent,
  type NodeId,
  ROOT,
  type SampleNodes,
  type Tree,
  type TreeHandle,
} from "../tree.ts";
import type { RangeFile } from "./range_format.ts";
import type { RangeSamples } from "./range_samples.ts";
import { RowsTree } from "./rows_tree.ts";
import { SampleTree } from "./sample_tree.ts";
import type { Field, Samples, SamplesHandle } from "./samples.ts";
import { reopenSamples } from "./samples_reader.ts";
import type { ShardTable } from "./shard_table.ts";

export interface RangeTreeOptions {
  /** Names of the files' directories; `undefined` if all samples are in the root. */
  readonly shards: readonly string[] | undefined;
  /** Suffix of the names of contents. */
  readonly suffix: string;
}

/** Data from which another thread rebuilds a tree. */
interface Seed extends RangeTreeOptions {
  readonly samples: SamplesHandle;
  readonly path: string;
}

/** A file of samples, of which some have keys. */
type ShownFile = KnownFile & Partial<Pick<RangeFile, "keys">>;

/** Samples whose contents or fields are files, as a tree needs them. */
interface FileSamples extends Pick<Samples, "share" | "storage" | "close"> {
  /** None if samples are contents. */
  readonly fields: readonly Field[];
  readonly shards: ShardTable<ShownFile>;
  /** Returns the sources of the files; those that are open belong to one thread. */
  treeSources(isOwner: boolean): Tree["sources"];
  /** Locates the file of a content or field. May throw `NotLoaded`. */
  placeFile(index: number, field: number, into: Extent): void;
}

/**
 * Shows samples by their keys or numbers: contents as files, samples with fields as directories of these. A header of a
 * file is `header.json` next to its samples.
 */
export function rangeTree(
  samples: RangeSamples<RangeFile>,
  options: RangeTreeOptions,
): Tree {
  const headers = samples.shards.shards.flatMap(
    ({ header }, i): AddedFile[] => {
      if (header === undefined) return [];
      const directory = options.shards === undefined ? ROOT : ROOT + 1 + i;
      return [{ directory, name: "header.json", text: header }];
    },
  );
  return withFiles(fieldTree(samples, options), headers);
}

/** {@linkcode rangeTree} of any samples whose fields are files. */
export function fieldTree(
  samples: FileSamples,
  options: RangeTreeOptions,
  isOwner = true,
): Tree {
  return samples.fields.length === 0
    ? new ContentTree(samples, options, isOwner)
    : new FieldTree(samples, options, isOwner);
}

const keysOf = ({ keys }: ShownFile) => keys;

class ContentTree extends SampleTree<ShownFile> {
  readonly sources: Tree["sources"];
  readonly nodeCount: number;
  readonly #samples: FileSamples;
  readonly #options: RangeTreeOptions;
  readonly #extent = newExtent();

  constructor(
    samples: FileSamples,
    options: RangeTreeOptions,
    isOwner: boolean,
  ) {
    super(samples.shards, options.shards, options.suffix, keysOf);
    this.sources = samples.treeSources(isOwner);
    this.nodeCount = this.firstSample - 1 + samples.shards.length;
    this.#samples = samples;
    this.#options = options;
  }

  locate(node: NodeId, into: Extent): boolean {
    if (!this.enterSample(node)) return false;
    this.#samples.placeFile(this.sample, 0, into);
    return true;
  }

  override samples(): SampleNodes {
    return { ...super.samples(), areDirectories: false };
  }

  share(): TreeHandle {
    return shared(this.#samples, this.#options);
  }

  close(): void {
    this.#samples.close();
  }

  protected override sizeOf(node: NodeId): number {
    return this.locate(node, this.#extent) ? this.#extent.length : -1;
  }
}

class FieldTree extends RowsTree<ShownFile> {
  readonly sources: Tree["sources"];
  readonly #samples: FileSamples;
  readonly #options: RangeTreeOptions;
  readonly #extent = newExtent();

  constructor(
    samples: FileSamples,
    options: RangeTreeOptions,
    isOwner: boolean,
  ) {
    super(
      samples.shards,
      options.shards,
      () => samples.fields.length,
      keysOf,
    );
    this.sources = samples.treeSources(isOwner);
    this.#samples = samples;
    this.#options = options;
  }

  locate(node: NodeId, into: Extent): boolean {
    if (!this.enterField(node)) return false;
    this.#samples.placeFile(this.sample, this.field, into);
    return true;
  }

  share(): TreeHandle {
    return shared(this.#samples, this.#options);
  }

  close(): void {
    this.#samples.close();
  }

  protected override fieldsOf(): readonly Field[] {
    return this.#samples.fields;
  }

  protected override sizeOf(node: NodeId): number {
    return this.locate(node, this.#extent) ? this.#extent.length : -1;
  }
}

function shared(samples: FileSamples, options: RangeTreeOptions): TreeHandle {
  const { shards, storage } = samples;
  requireReached(shards.name, storage);
  const path = shards.paths[0] ?? "";
  const data: Seed = { ...options, samples: samples.share(), path };
  return { module: import.meta.url, data };
}

/** Rebuilds a shared tree in another thread, over the same tables, without headers, and reopens the files. */
export async function reopenTree(data: unknown): Promise<Tree> {
  const { samples, path, ...options } = data as Seed;
  const storage = storageInThread(path);
  const opened = await reopenSamples(samples, { storage });
  return fieldTree(opened as unknown as FileSamples, options, false);
}
