import type { FileSource } from "../../../io/storage/file_source.ts";
import { runSync } from "../../../io/concurrency/steps.ts";
import type { LazySources } from "../../../tree/tree.ts";
import type { BagFile } from "../bag/bag_file.ts";
import { shardPath } from "../dataset/dataset_location.ts";
import type { DatasetNodes } from "./dataset_nodes.ts";
import type { Generation } from "../dataset/generation.ts";
import {
  closeDataset,
  closeHead,
  type DatasetFiles,
  type DatasetHead,
  filesOf,
  openDataset,
  openHead,
  REFLESS,
} from "../dataset/open_dataset.ts";
import { ShardFact, type ShardFacts } from "./shard_facts.ts";
import { hashInodes, inodesOf } from "./shard_inodes.ts";
import { changed, TreeShard } from "./tree_shard.ts";
import type { TreeViews } from "./tree_views.ts";

/** Files that a thread keeps the shards of, however few descriptors they have. */
const MOST_FILES = 4096;

/** Files of a shard are numbered from its own multiple of this. */
const FILES_IN_SHARD = 2 ** 24;

/** What stands for generation 2 without references among the facts. */
const REFLESS_GENERATION = 4;

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
    if (number === this.#lastNumber) return this.#last!.mtime;
    const known = this.#place.facts.get(number, ShardFact.MTIME);
    if (known !== undefined) return known / 1000;
    this.shard(number);
    return this.mtime(number);
  }

  /** Shows an opened shard, which from now on belongs to this. */
  add(number: number, files: DatasetFiles): void {
    const { nodes, facts, views } = this.#place;
    const { path, keys, bags } = files;
    const rows = bags.reduce(
      (most, { length }) => Math.max(most, length),
      files.length,
    );
    nodes.checkRoom(path, rows, keys.length);
    settleFacts(facts, number, files, countNodes(files, views));
    const isBehind = files.length < facts.get(number, ShardFact.LENGTH)!;
    // Another thread was quicker, and saw more of what is being written.
    if (isBehind) closeDataset(files);
    this.#keep(
      number,
      isBehind
        ? this.#openHead(number)
        : this.#shardOf(number, files, bags, inodesOfBags(bags)),
    );
  }

  close(): void {
    for (const shard of this.#opened.values()) shard.close();
    this.#opened.clear();
    this.#lastNumber = -1;
  }

  /** The first one to open a shard opens all of it, to say what is to be known of it. */
  #open(number: number): TreeShard {
    const isKnown =
      this.#place.facts.get(number, ShardFact.GENERATION) !== undefined;
    if (isKnown) return this.#keep(number, this.#openHead(number));
    const { generation } = this.#place;
    const files = runSync(openDataset(this.#pathOf(number), { generation }));
    try {
      this.add(number, files);
    } catch (error) {
      closeDataset(files);
      throw error;
    }
    return this.#opened.get(number)!;
  }

  #openHead(number: number): TreeShard {
    const { facts } = this.#place;
    const generation = facts.get(number, ShardFact.GENERATION);
    const path = this.#pathOf(number);
    const form = generation === REFLESS_GENERATION
      ? REFLESS
      : { generation: generation as Generation };
    const head = runSync(openHead(path, form));
    const { refs } = head;
    const length = facts.get(number, ShardFact.LENGTH)!;
    const inodes = inodesOf(head);
    const isSame = (refs === undefined || refs.length === length) &&
      // Where there is no datapoint yet, a writer may still make the bags.
      (length === 0 ||
        hashInodes(inodes) === facts.get(number, ShardFact.INODES));
    if (!isSame) {
      closeHead(head);
      throw changed(path);
    }
    return this.#shardOf(number, head, [], inodes);
  }

  #shardOf(
    number: number,
    head: DatasetHead,
    bags: readonly BagFile[],
    inodes: readonly number[],
  ): TreeShard {
    const { facts, views } = this.#place;
    return new TreeShard(head, {
      length: facts.get(number, ShardFact.LENGTH)!,
      mtime: facts.get(number, ShardFact.MTIME)! / 1000,
      bags,
      inodes,
      views,
    });
  }

  #pathOf(number: number): string {
    const { path, nodes } = this.#place;
    return nodes.shards === undefined ? path : shardPath(path, number);
  }

  #keep(number: number, shard: TreeShard): TreeShard {
    this.#files += shard.keys.length;
    this.#makeRoom();
    this.#opened.set(number, shard);
    return shard;
  }

  /** Whoever reads such a file at this moment goes on; its descriptor is opened again if need be. */
  #makeRoom(): void {
    for (const [number, shard] of this.#opened) {
      if (this.#files <= MOST_FILES) return;
      this.#opened.delete(number);
      this.#files -= shard.keys.length;
      shard.rest();
      if (number === this.#lastNumber) this.#lastNumber = -1;
    }
  }
}

/** Says what was found of a shard, where no other thread did. */
function settleFacts(
  facts: ShardFacts,
  shard: number,
  dataset: DatasetFiles,
  nodes: number,
): void {
  const files = filesOf(dataset);
  const bytes = files.reduce((sum, { size }) => sum + size, 0);
  const mtime = files.reduce((last, { mtime }) => Math.max(last, mtime), 0);
  facts.agree(shard, ShardFact.LENGTH, dataset.length);
  facts.agree(shard, ShardFact.MTIME, mtime * 1000);
  facts.agree(shard, ShardFact.BYTES, bytes);
  facts.agree(shard, ShardFact.NODES, nodes);
  facts.agree(shard, ShardFact.KEYS, dataset.keys.length);
  facts.agree(shard, ShardFact.INODES, hashInodes(inodesOfBags(dataset.bags)));
  // Last: with it, the others are known.
  const { generation, refs } = dataset;
  const isRefless = generation === 2 && refs === undefined;
  facts.agree(
    shard,
    ShardFact.GENERATION,
    isRefless ? REFLESS_GENERATION : generation,
  );
}

function inodesOfBags(bags: readonly BagFile[]): number[] {
  return bags.map(({ source }) => source.identity.ino);
}

function countNodes(
  { bags, generation, keys, length }: DatasetFiles,
  views: TreeViews | undefined,
): number {
  let inEach = 1;
  let elements = 0;
  for (const [k, { type }] of keys.entries()) {
    const shown = views?.suffixOf(type, generation) === undefined ? 1 : 2;
    inEach += type.isList ? 1 : shown;
    elements += type.isList ? shown * bags[k]!.length : 0;
  }
  return 2 + length * inEach + elements;
}
