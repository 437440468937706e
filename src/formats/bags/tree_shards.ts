import { FormatError } from "../../errors.ts";
import type { FileSource } from "../../io/file_source.ts";
import { runSync } from "../../io/steps.ts";
import type { LazySources } from "../../tree/tree.ts";
import { shardPath } from "./dataset_location.ts";
import type { DatasetNodes } from "./dataset_nodes.ts";
import type { Generation } from "./generation.ts";
import {
  closeDataset,
  filesOf,
  openDataset,
  type OpenedDataset,
} from "./open_dataset.ts";
import { PageCache } from "./paged_file.ts";
import { ShardFact, type ShardFacts } from "./shard_facts.ts";
import { TreeShard } from "./tree_shard.ts";
import type { TreeViews } from "./tree_views.ts";

/** Pages of indexes and references that a thread keeps: 4 MiB. */
const PAGES = 1024;

/** Files that a thread keeps the shards of, however few descriptors they have. */
const MOST_FILES = 4096;

/** Files of a shard are numbered from its own multiple of this. */
const FILES_IN_SHARD = 2 ** 24;

/** Where shards are, and how to open them. */
export interface ShardPlace {
  /** The dataset's directory. */
  readonly path: string;
  readonly nodes: DatasetNodes;
  readonly facts: ShardFacts;
  readonly generation: Generation | undefined;
  readonly views: TreeViews | undefined;
}

/** The shards of a dataset, each opened when it is first asked for; of many, those used last stay. */
export class TreeShards implements LazySources {
  readonly #place: ShardPlace;
  readonly #pages = new PageCache(PAGES);
  /** In order of use. */
  readonly #opened = new Map<number, TreeShard>();
  #files = 0;
  #last: TreeShard | undefined;
  #lastNumber = -1;

  constructor(place: ShardPlace) {
    this.#place = place;
  }

  get path(): string {
    return this.#place.path;
  }

  get knownBytes(): number {
    return this.#place.facts.sum(ShardFact.BYTES);
  }

  /** The file that extents call `index`. */
  at(index: number): FileSource | undefined {
    return this.shard(Math.floor(index / FILES_IN_SHARD))
      .file(index % FILES_IN_SHARD);
  }

  /** What extents call a file of a shard. */
  sourceOf(shard: number, file: number): number {
    return shard * FILES_IN_SHARD + file;
  }

  /**
   * A shard that there is.
   *
   * @throws {FormatError} If it is damaged, or has become another one.
   */
  shard(number: number): TreeShard {
    if (number === this.#lastNumber) return this.#last!;
    let shard = this.#opened.get(number);
    if (shard === undefined) shard = this.#open(number);
    else this.#opened.delete(number); // to the end: most recently used
    this.#opened.set(number, shard);
    this.#last = shard;
    this.#lastNumber = number;
    return shard;
  }

  /** When a shard was last modified, in milliseconds since 1970. */
  mtime(number: number): number {
    const known = this.#place.facts.get(number, ShardFact.MTIME);
    if (known !== undefined) return known / 1000;
    this.shard(number);
    return this.mtime(number);
  }

  /** Shows an opened shard, which from now on belongs to this. */
  add(number: number, files: OpenedDataset): TreeShard {
    const { views, nodes, facts } = this.#place;
    const { path, keys, bags } = files;
    const rows = bags.reduce(
      (most, { length }) => Math.max(most, length),
      files.length,
    );
    nodes.checkRoom(path, rows, keys.length);
    const length = settleFacts(facts, number, files);
    const shard = new TreeShard(files, length, this.#pages, views);
    facts.agree(number, ShardFact.NODES, countNodes(shard));
    this.#files += bags.length;
    this.#makeRoom();
    this.#opened.set(number, shard);
    return shard;
  }

  close(): void {
    for (const { files } of this.#opened.values()) closeDataset(files);
    this.#opened.clear();
    this.#lastNumber = -1;
  }

  #open(number: number): TreeShard {
    const { path, nodes, generation } = this.#place;
    const directory = nodes.shards === undefined
      ? path
      : shardPath(path, number);
    const open = () => runSync(openDataset(directory, { generation }));
    let files = open();
    const known = this.#place.facts.get(number, ShardFact.LENGTH) ?? 0;
    if (files.generation === 3 && files.length < known) {
      closeDataset(files); // another thread was quicker, and saw more of what is being written
      files = open();
    }
    try {
      return this.add(number, files);
    } catch (error) {
      closeDataset(files);
      throw error;
    }
  }

  /** Whoever reads such a file at this moment goes on; its descriptor is opened again if need be. */
  #makeRoom(): void {
    for (const [number, { files }] of this.#opened) {
      if (this.#files <= MOST_FILES) return;
      this.#opened.delete(number);
      this.#files -= files.bags.length;
      for (const file of filesOf(files)) file.rest();
      if (number === this.#lastNumber) this.#lastNumber = -1;
    }
  }
}

/**
 * Says what was found of a shard, unless another thread did.
 *
 * @returns How many datapoints are to be shown.
 * @throws {FormatError} If the shard is not what that thread found.
 */
function settleFacts(
  facts: ShardFacts,
  shard: number,
  dataset: OpenedDataset,
): number {
  const { path, generation } = dataset;
  const files = filesOf(dataset);
  const bytes = files.reduce((sum, { size }) => sum + size, 0);
  const mtime = files.reduce((last, { mtime }) => Math.max(last, mtime), 0);
  const microseconds = Math.round(mtime * 1000);
  const length = facts.agree(shard, ShardFact.LENGTH, dataset.length);
  const sameBytes = facts.agree(shard, ShardFact.BYTES, bytes) === bytes;
  const sameTime =
    facts.agree(shard, ShardFact.MTIME, microseconds) === microseconds;
  const same = generation === 3
    ? length <= dataset.length
    : length === dataset.length && sameBytes && sameTime;
  if (same) return length;
  throw new FormatError(
    "changed",
    `${path} was replaced or changed after it was opened; open it again`,
    { path, expected: length, actual: dataset.length },
  );
}

function countNodes(
  { files, keys, names, suffixes, length }: TreeShard,
): number {
  const inEach = names.length; // the root of the table stands for the datapoint's directory
  let elements = 0;
  for (const [k, { type }] of keys.entries()) {
    if (!type.isList) continue;
    elements += files.bags[k]!.length * (suffixes[k] === undefined ? 1 : 2);
  }
  return 2 + length * inEach + elements;
}
