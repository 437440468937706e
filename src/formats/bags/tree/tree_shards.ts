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

/** Files that a thread keeps the shards of, however few descriptors they have. */
const MOST_FILES = 4096;

/** Files of a shard are numbered from its own multiple of this. */
const FILES_IN_SHARD = 2 ** 24;

/** Generation 2 without references, among the facts. */
const REFLESS_GENERATION = 4;

/** Of a shard that is damaged so that it is left out, among the facts. */
const LOST_GENERATION = 5;

/** Hash of no damaged keys. */
const UNDAMAGED = hashIds([]);

/** Where shards are, and how to open them. */
interface ShardPlace {
  /** The dataset's directory. */
  readonly path: string;
  readonly storage: Storage;
  readonly nodes: DatasetNodes;
  readonly facts: ShardFacts;
  readonly views: DecodedViews | undefined;
}

/** The shards of a dataset, each opened when it is first asked for; of many, those used last stay. */
export class TreeShards implements LazySources {
  readonly #place: ShardPlace;
  /** In order of use. */
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

  /** The file that extents call `index`. */
  at(index: number): ByteSource | undefined {
    return this.shard(Math.floor(index / FILES_IN_SHARD))
      .file(index % FILES_IN_SHARD);
  }

  /** The number of a shard's file in extents. */
  sourceOf(shard: number, file: number): number {
    return shard * FILES_IN_SHARD + file;
  }

  /**
   * A shard that there is.
   *
   * @throws {FormatError} If it is damaged, or has become another one.
   * @throws {NotLoaded} If it is not open and has to be waited for.
   */
  shard(number: number): TreeShard {
    if (number === this.#lastNumber) return this.#last!;
    let shard = this.#opened.get(number);
    if (shard === undefined) {
      requireOpen(this.path, this.#isClosed);
      shard = atOnce(this.#pathOf(number), () => this.#open(number));
    } else this.#opened.delete(number); // to the end: most recently used
    this.#opened.set(number, shard);
    this.#last = shard;
    this.#lastNumber = number;
    return shard;
  }

  /** Whether a shard is known to be damaged so that it is left out. */
  isLost(number: number): boolean {
    const generation = this.#place.facts.get(number, ShardFact.GENERATION);
    return generation === LOST_GENERATION;
  }

  /** The first shard that is not known to be left out. */
  get firstKnown(): number {
    let first = 0;
    while (this.isLost(first)) first++; // never all: then nothing is opened
    return first;
  }

  /** When a shard was last modified, in milliseconds since 1970. */
  mtime(number: number): number {
    if (number === this.#lastNumber) return this.#last!.mtime;
    return this.fact(number, ShardFact.MTIME) / 1000;
  }

  /** A fact about a shard, which is opened where it is not known. */
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
   * Opens a shard as a tree shows it. One that is damaged is left out from now on.
   *
   * @throws {FormatError} If it is damaged, or with code `changed` if it was and is not any more.
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

  /** Shows an opened shard, which from now on belongs to this, unless this throws. */
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
    // Another thread was quicker, and saw more of what is being written.
    const again = yield* this.#openHead(number);
    shard.close();
    return again;
  }

  /** Opens all bags of a shard for others to read, until this is closed. */
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

  /** The first one to open a shard opens all of it, to say what is to be known of it. */
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
        // Where there is no datapoint yet, a writer may still make the bags.
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
    requireOpen(this.path, this.#isClosed); // it may have ended while this one was waited for
    const opened = this.#opened.get(number);
    if (opened !== undefined) { // while this one was waited for
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
   * Whoever reads such a file at this moment goes on; its descriptor is opened again if need be. Shards that
   * are waited for stay: who was told where a value is must find its file without waiting again.
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

/** Says of a shard that it is left out, where no other thread found something else. */
function settleLost(facts: ShardFacts, number: number): void {
  for (let fact = 0; fact < ShardFact.GENERATION; fact++) {
    facts.agree(number, fact, 0);
  }
  facts.agree(number, ShardFact.GENERATION, LOST_GENERATION);
}

/** Stands for the keys whose bags are damaged. */
function damageHash({ bags }: Shard): number {
  const keys = bags.flatMap((bag, k) => bag instanceof DamagedBag ? [k] : []);
  return hashIds(keys);
}

/** Says what was found of a shard, where no other thread did. */
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
  // Last: with it, the others are known.
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

/** Facts about a shard that all threads that serve it agree on, whoever opened it first. */
export const ShardFact = {
  /** The number of its datapoints: a writer may be at work. */
  LENGTH: 0,
  /** Microseconds since 1970. */
  MTIME: 1,
  /** Bytes of its files. */
  BYTES: 2,
  /** The number of its tree's nodes. */
  NODES: 3,
  /** The number of its keys. */
  KEYS: 4,
  /** Which inodes its bags are, as a hash. */
  INODES: 5,
  /** Which of its keys have damaged bags, as a hash. */
  DAMAGE: 6,
  /** The last that is said. */
  GENERATION: 7,
} as const;

const FACTS = 8;

/**
 * Facts about shards in memory that threads share. Each thread opens a shard when it first needs it; what
 * the first one finds is what the others go by.
 */
export class ShardFacts {
  readonly memory: BigUint64Array<SharedArrayBuffer>;

  /** @param memory What another thread gave; by default, nothing is known yet. */
  constructor(
    shards: number,
    memory: BigUint64Array<SharedArrayBuffer> = new BigUint64Array(
      new SharedArrayBuffer(shards * FACTS * BigUint64Array.BYTES_PER_ELEMENT),
    ),
  ) {
    this.memory = memory;
  }

  /** Says a fact, unless it was said; and what is said. */
  agree(shard: number, fact: number, value: number): number {
    const said = BigInt(Math.max(0, Math.round(value))) + 1n; // 0 is for what nobody said
    const at = shard * FACTS + fact;
    const before = Atomics.compareExchange(this.memory, at, 0n, said);
    return Number((before || said) - 1n);
  }

  /** A fact that was said, or `undefined`. */
  get(shard: number, fact: number): number | undefined {
    const said = Atomics.load(this.memory, shard * FACTS + fact);
    return said === 0n ? undefined : Number(said - 1n);
  }

  /** Sum of a fact over the shards of which it is known. */
  sum(fact: number): number {
    let sum = 0;
    for (let at = fact; at < this.memory.length; at += FACTS) {
      const said = Atomics.load(this.memory, at);
      if (said > 0n) sum += Number(said - 1n);
    }
    return sum;
  }
}
