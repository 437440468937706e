import { requireOpen } from "../../../io/storage/closed.ts";
import { changedFile } from "../../../io/storage/changed_file.ts";
import type { Steps } from "../../../io/concurrency/steps.ts";
import type { ByteSource } from "../../../io/storage/byte_source.ts";
import { LOCAL_DISK, type Storage } from "../../../io/storage/storage.ts";
import type { LazySources } from "../../../tree/tree.ts";
import { shardPath } from "../dataset/dataset_location.ts";
import type { Generation } from "../dataset/dataset_names.ts";
import { isShardDamage } from "../../../tree/samples/open_shards.ts";
import { DamagedBag } from "../bag/damaged_bag.ts";
import { openHead, openShard, type Shard } from "../dataset/open_shard.ts";
import type { DatasetNodes } from "./dataset_nodes.ts";
import { TreeShard } from "./tree_shard.ts";
import { hashIds, idsOf } from "./tree_storage.ts";
import { atOnce, whenLoaded } from "../../../tree/not_loaded.ts";
import type { DecodedViews } from "./decoded_views.ts";

/** Limit of open shards per thread: the total number of their bags, whether or not these have descriptors. */
const MOST_FILES = 4096;

/** File numbers of a shard start at its own multiple of this. */
const FILES_IN_SHARD = 2 ** 24;

/** Value of the fact `GENERATION` for generation 2 without references. */
const REFLESS_GENERATION = 4;

/** Value of the fact `GENERATION` for a shard that is skipped because it is damaged. */
const LOST_GENERATION = 5;

const UNDAMAGED = hashIds([]);

interface ShardPlace {
  readonly path: string;
  readonly storage: Storage;
  readonly nodes: DatasetNodes;
  readonly facts: ShardFacts;
  readonly views: DecodedViews | undefined;
}

/** Shards of a dataset, each opened on first access. Local shards are evicted by LRU if there are many. */
export class TreeShards implements LazySources {
  readonly #place: ShardPlace;
  /** Least recently used first. */
  readonly #opened = new Map<number, TreeShard>();
  readonly #lent = new Set<TreeShard>();
  #files = 0;
  #last: TreeShard | undefined;
  #lastNumber = -1;
  #isClosed = false;

  constructor(place: ShardPlace) {
    this.#place = place;
  }

  get path(): string {
    return this.#place.path;
  }

  get storage(): Storage {
    return this.#place.storage;
  }

  get nodes(): DatasetNodes {
    return this.#place.nodes;
  }

  get knownBytes(): number {
    return this.#place.facts.sum(ShardFact.BYTES);
  }

  /** Returns the file with this number in extents. */
  at(index: number): ByteSource | undefined {
    return this.shard(Math.floor(index / FILES_IN_SHARD))
      .file(index % FILES_IN_SHARD);
  }

  /** Returns the number of a shard's file in extents. */
  sourceOf(shard: number, file: number): number {
    return shard * FILES_IN_SHARD + file;
  }

  /**
   * Returns an existing shard; opens it if necessary.
   *
   * @throws {FormatError} If it is damaged, or was replaced.
   * @throws {NotLoaded} If it must be opened asynchronously.
   */
  shard(number: number): TreeShard {
    if (number === this.#lastNumber) return this.#last!;
    let shard = this.#opened.get(number);
    if (shard === undefined) {
      requireOpen(this.path, this.#isClosed);
      shard = atOnce(this.#pathOf(number), () => this.#open(number));
    } else this.#opened.delete(number); // reinserted at the end: most recently used
    this.#opened.set(number, shard);
    this.#last = shard;
    this.#lastNumber = number;
    return shard;
  }

  /** Whether a shard is known to be skipped because it is damaged. */
  isLost(number: number): boolean {
    const generation = this.#place.facts.get(number, ShardFact.GENERATION);
    return generation === LOST_GENERATION;
  }

  /** First shard that is not known to be skipped. */
  get firstKnown(): number {
    let first = 0;
    while (this.isLost(first)) first++; // never all: then opening the tree fails
    return first;
  }

  /** Returns a shard's modification time, in milliseconds since 1970. */
  mtime(number: number): number {
    if (number === this.#lastNumber) return this.#last!.mtime;
    return this.fact(number, ShardFact.MTIME) / 1000;
  }

  /** Returns a fact about a shard; opens the shard if the fact is not known. */
  fact(number: number, fact: number): number {
    const { facts } = this.#place;
    const known = facts.get(number, fact);
    if (known !== undefined) return known;
    try {
      this.shard(number);
    } catch (error) {
      if (!this.isLost(number)) throw error;
    }
    return facts.get(number, fact)!;
  }

  /**
   * Opens all of a shard. A damaged one is skipped from now on. Throws `changed` if it was damaged and no longer is.
   */
  *openShard(
    number: number,
    onWarning?: (message: string) => void,
  ): Steps<Shard> {
    const { facts, storage } = this.#place;
    const path = this.#pathOf(number);
    const ofSeveral = this.#ofSeveral;
    let shard: Shard;
    try {
      shard = yield* openShard(path, { storage, onWarning, ofSeveral });
    } catch (error) {
      if (ofSeveral && isShardDamage(error)) settleLost(facts, number);
      throw error;
    }
    if (!this.isLost(number)) return shard;
    shard.close();
    throw changedFile(path);
  }

  get #ofSeveral(): boolean {
    return (this.nodes.shards ?? 1) > 1;
  }

  /** Adds an opened shard, and takes ownership unless this throws. */
  *add(number: number, shard: Shard): Steps<TreeShard> {
    const { nodes, facts, views } = this.#place;
    const { path, keys, bags } = shard;
    const ids = yield* idsOf(shard);
    const rows = bags.reduce(
      (most, { length }) => Math.max(most, length),
      shard.length,
    );
    nodes.checkRoom(path, rows, keys.length);
    settleFacts(facts, number, shard, ids, views);
    if (shard.length >= facts.get(number, ShardFact.LENGTH)!) {
      return this.#keep(number, shard, ids);
    }
    // Another thread added it first, and saw more datapoints of an active writer.
    const again = yield* this.#openHead(number);
    shard.close();
    return again;
  }

  /** Opens all bags of a shard for others to read until this is closed. */
  *lend(number: number): Steps<TreeShard> {
    const shard = yield* whenLoaded(() => this.shard(number));
    this.#lent.add(shard);
    if (shard.length === 0) return shard; // there may be no bags yet
    for (const key of shard.keys.keys()) {
      yield* whenLoaded(() => shard.bag(key));
    }
    return shard;
  }

  close(): void {
    this.#isClosed = true;
    for (const shard of [...this.#opened.values(), ...this.#lent]) {
      shard.close();
    }
    this.#opened.clear();
    this.#lastNumber = -1;
  }

  /** Opens a shard. The first thread to do so opens all of it, to publish its facts. */
  *#open(number: number): Steps<TreeShard> {
    const { facts } = this.#place;
    const isKnown = facts.get(number, ShardFact.GENERATION) !== undefined;
    if (isKnown) return yield* this.#openHead(number);
    const shard = yield* this.openShard(number);
    try {
      return yield* this.add(number, shard);
    } catch (error) {
      shard.close();
      throw error;
    }
  }

  *#openHead(number: number): Steps<TreeShard> {
    const { facts, storage } = this.#place;
    const generation = facts.get(number, ShardFact.GENERATION);
    const path = this.#pathOf(number);
    const isRefless = generation === REFLESS_GENERATION;
    const form = isRefless ? 2 : generation as Generation;
    const hasRefs = form !== 3 && !isRefless;
    const damage = facts.get(number, ShardFact.DAMAGE);
    const shard = damage === UNDAMAGED
      ? yield* openHead(path, form, hasRefs, { storage })
      : yield* this.openShard(number);
    try {
      const { refs } = shard;
      const length = facts.get(number, ShardFact.LENGTH)!;
      const ids = yield* idsOf(shard);
      const isSame = (refs === undefined || refs.length === length) &&
        damageHash(shard) === damage &&
        // Before the first datapoint, a writer may still be creating the bags.
        (length === 0 || hashIds(ids) === facts.get(number, ShardFact.INODES));
      if (!isSame) throw changedFile(path);
      return this.#keep(number, shard, ids);
    } catch (error) {
      shard.close();
      throw error;
    }
  }

  #pathOf(number: number): string {
    const { path, nodes } = this.#place;
    return nodes.shards === undefined ? path : shardPath(path, number);
  }

  #keep(number: number, shard: Shard, ids: readonly number[]): TreeShard {
    requireOpen(this.path, this.#isClosed); // may have been closed while the shard was opened
    const opened = this.#opened.get(number);
    if (opened !== undefined) { // opened meanwhile by another caller
      shard.close();
      return opened;
    }
    const { facts, views } = this.#place;
    const length = facts.get(number, ShardFact.LENGTH)!;
    const mtime = facts.get(number, ShardFact.MTIME)! / 1000;
    const kept = new TreeShard(shard, ids, length, mtime, views);
    this.#files += shard.keys.length;
    this.#makeRoom();
    this.#opened.set(number, kept);
    return kept;
  }

  /**
   * Evicts local shards. Reads in progress continue, since a descriptor is reopened on demand. Remote shards stay: a
   * caller that has located a value must find its file without waiting again.
   */
  #makeRoom(): void {
    if (this.#place.storage !== LOCAL_DISK) return;
    for (const [number, shard] of this.#opened) {
      if (this.#files <= MOST_FILES) return;
      this.#opened.delete(number);
      this.#files -= shard.keys.length;
      shard.rest();
      if (number === this.#lastNumber) this.#lastNumber = -1;
    }
  }
}

/** Publishes that a shard is skipped, unless another thread published something else. */
function settleLost(facts: ShardFacts, number: number): void {
  for (let fact = 0; fact < ShardFact.GENERATION; fact++) {
    facts.agree(number, fact, 0);
  }
  facts.agree(number, ShardFact.GENERATION, LOST_GENERATION);
}

function damageHash({ bags }: Shard): number {
  const keys = bags.flatMap((bag, k) => bag instanceof DamagedBag ? [k] : []);
  return hashIds(keys);
}

/** Publishes the facts of a shard, unless another thread has. */
function settleFacts(
  facts: ShardFacts,
  number: number,
  shard: Shard,
  ids: readonly number[],
  views: DecodedViews | undefined,
): void {
  const { generation, refs, files } = shard;
  const mtime = files.reduce((last, { mtime }) => Math.max(last, mtime), 0);
  const isRefless = generation === 2 && refs === undefined;
  const agree = (fact: number, value: number) =>
    facts.agree(number, fact, value);
  agree(ShardFact.LENGTH, shard.length);
  agree(ShardFact.MTIME, mtime * 1000);
  agree(ShardFact.BYTES, shard.bytes);
  agree(ShardFact.NODES, countNodes(shard, views));
  agree(ShardFact.KEYS, shard.keys.length);
  agree(ShardFact.INODES, hashIds(ids));
  agree(ShardFact.DAMAGE, damageHash(shard));
  // Last: if it is set, all others are.
  agree(ShardFact.GENERATION, isRefless ? REFLESS_GENERATION : generation);
}

function countNodes(shard: Shard, views: DecodedViews | undefined): number {
  const { bags, generation, keys, length } = shard;
  let inEach = 1;
  let elements = 0;
  for (const [k, { type }] of keys.entries()) {
    const hasView = !(bags[k] instanceof DamagedBag) &&
      views?.suffixOf(type, generation) !== undefined;
    const shown = hasView ? 2 : 1;
    const isList = shard.isList(k);
    inEach += isList ? 1 : shown;
    elements += isList ? shown * bags[k]!.length : 0;
  }
  return 2 + length * inEach + elements;
}

/** Facts about a shard that all serving threads share. Those of the first thread to open it apply. */
export const ShardFact = {
  /** Number of its datapoints when first opened: a writer may be active. */
  LENGTH: 0,
  /** Microseconds since 1970. */
  MTIME: 1,
  /** Size of its files in bytes. */
  BYTES: 2,
  /** Number of nodes in its tree. */
  NODES: 3,
  /** Number of its keys. */
  KEYS: 4,
  /** Hash of the file ids of its bags. */
  INODES: 5,
  /** Hash of the keys whose bags are damaged. */
  DAMAGE: 6,
  /** Generation; set last. */
  GENERATION: 7,
} as const;

const FACTS = 8;

/** Facts about shards in memory shared by threads. Those of the first thread to open a shard apply to all. */
export class ShardFacts {
  readonly memory: BigUint64Array<SharedArrayBuffer>;

  /** @param memory Memory of another thread's facts. By default, nothing is known. */
  constructor(
    shards: number,
    memory: BigUint64Array<SharedArrayBuffer> = new BigUint64Array(
      new SharedArrayBuffer(shards * FACTS * BigUint64Array.BYTES_PER_ELEMENT),
    ),
  ) {
    this.memory = memory;
  }

  /** Sets a fact unless it is set, and returns its value. */
  agree(shard: number, fact: number, value: number): number {
    const said = BigInt(Math.max(0, Math.round(value))) + 1n; // 0 means unset
    const at = shard * FACTS + fact;
    const before = Atomics.compareExchange(this.memory, at, 0n, said);
    return Number((before || said) - 1n);
  }

  /** Returns a fact, or `undefined` if it is not set. */
  get(shard: number, fact: number): number | undefined {
    const said = Atomics.load(this.memory, shard * FACTS + fact);
    return said === 0n ? undefined : Number(said - 1n);
  }

  /** Returns the sum of a fact over the shards for which it is set. */
  sum(fact: number): number {
    let sum = 0;
    for (let at = fact; at < this.memory.length; at += FACTS) {
      const said = Atomics.load(this.memory, at);
      if (said > 0n) sum += Number(said - 1n);
    }
    return sum;
  }
}
