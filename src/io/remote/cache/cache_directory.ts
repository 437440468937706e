import { createHash } from "node:crypto";
import * as fs from "node:fs";
import { NotTrustedError, unlessForeign } from "../../directories/trust.ts";
import type { TrustedDirectory } from "../../directories/trusted_directory.ts";
import type { CacheOptions } from "../remote_options.ts";
import type { ListedFile } from "../listed_file.ts";
import { BLOCK } from "./block_store.ts";
import { CacheRoot } from "./cache_root.ts";
import {
  type CachedEntry,
  CachedObject,
  entryIn,
  type ObjectPlace,
} from "./cached_object.ts";
import { type ObjectCounts, readCounts } from "./object_counts.ts";
import {
  type CachedFacts,
  FACTS,
  isTemporary,
  readList,
  writeJson,
} from "./object_facts.ts";
import { RangeClaims, removeClaims } from "./range_claims.ts";

/** Part of the room that is free but for the cache which it takes, unless it is said how much. */
const SHARE = 5;
/** Of the disk's room, what is left for others. */
const SPARE = 64 << 20;
/** Bytes after which it is looked anew how large the cache is: others write to it as well. */
const LOOK_EVERY = 256 << 20;
/** Of the cache, what is made room at a time. */
const PIECE = 16;

const OBJECTS = "objects";
const LISTS = "lists";
/** Files of an object. The facts come first: without, it is no object any more. */
const FILES = [FACTS, "sums", "data", "counts", "lock"] as const;

/**
 * Objects of servers on the disk, of which any number of processes keep blocks. It deletes only what it made itself:
 * directories below `objects`, named by hashes, with a `facts.json`.
 */
export class CacheDirectory {
  readonly root: CacheRoot;
  readonly #size: number | undefined;
  #limit = 0;
  #used = 0;
  #sinceLook = Infinity;
  #isDiskFull = false;

  constructor(options: CacheOptions, onWarning: (message: string) => void) {
    this.root = new CacheRoot(options, onWarning);
    this.#size = options.size;
  }

  /**
   * What is known of an object's last state, if any of it is kept.
   *
   * @param identity Tells it from all others; it is not written anywhere.
   */
  lastState(identity: string): CachedFacts | undefined {
    return this.#look(() => {
      const parentName = parentOf(identity);
      using parent = this.root.open([OBJECTS, parentName]);
      let last: CachedEntry | undefined;
      for (const name of parent?.list() ?? []) {
        const entry = unlessForeign(() => {
          using directory = parent!.open(name);
          return directory && entryIn(directory, [parentName, name]);
        });
        // Its data is made as long as it is before its facts are written.
        if (entry === undefined || entry.length !== entry.facts.size) continue;
        if (last === undefined || entry.used > last.used) last = entry;
      }
      return last?.facts;
    });
  }

  /** What a directory held when it was last listed. */
  lastList(identity: string): readonly ListedFile[] | undefined {
    return this.#look(() => {
      using lists = this.root.open([LISTS]);
      return lists && readList(lists, `${hash(identity)}.json`);
    });
  }

  /** Keeps what a directory holds, for those who go on with it while its server is away. */
  keepList(identity: string, list: readonly ListedFile[]): void {
    if (this.root.missing !== undefined) return;
    try {
      using lists = this.root.make([LISTS]);
      writeJson(lists, `${hash(identity)}.json`, list);
    } catch (error) {
      this.root.warn(error);
    }
  }

  /**
   * Opens an object for its blocks to be kept; `undefined` where that can't be done, which is said once.
   */
  open(identity: string, facts: CachedFacts): CachedObject | undefined {
    const place = [parentOf(identity), hash(facts.tag)] as const;
    try {
      using directory = this.root.make([OBJECTS, ...place]);
      const object = CachedObject.open(this, place, directory, facts.size);
      if (object === undefined) return undefined; // it is just being deleted
      try {
        object.prepare(directory, facts);
        return object;
      } catch (error) {
        object.close();
        throw error;
      }
    } catch (error) {
      this.root.warn(error);
      return undefined;
    }
  }

  /**
   * Takes room for bytes that are added; makes some by what nobody uses.
   *
   * @returns How many may be added: all, or fewer whole blocks.
   */
  takeRoom(bytes: number): number {
    if (this.#sinceLook + bytes > LOOK_EVERY) this.#measure();
    if (this.#used + bytes > this.#limit) {
      const wanted = Math.max(bytes, Math.floor(this.#limit / PIECE));
      this.#used -= this.#evict(this.#used + wanted - this.#limit);
    }
    const left = Math.max(0, this.#limit - this.#used);
    const taken = bytes <= left ? bytes : left - left % BLOCK;
    this.#used += taken;
    this.#sinceLook += taken;
    if (taken < bytes && this.#isDiskFull) {
      this.root.warn(new Error("its disk has no room left"));
    }
    return taken;
  }

  /** What is there, as far as it may be looked at; a directory of others is said once, and nothing of it is. */
  #look<T>(look: () => T): T | undefined {
    if (this.root.missing !== undefined) return undefined;
    try {
      return look();
    } catch (error) {
      if (error instanceof NotTrustedError) this.root.warn(error);
      return undefined;
    }
  }

  #measure(): void {
    this.#sinceLook = 0;
    this.#used = this.objects().reduce((sum, { bytes }) => sum + bytes, 0);
    const { bavail, bsize } = fs.statfsSync(this.root.path);
    const free = Math.max(0, bavail * bsize - SPARE);
    // What it has counts as free: it would grow with every look otherwise.
    const share = Math.floor((this.#used + free) / SHARE);
    this.#limit = Math.min(this.#size ?? share, this.#used + free);
    this.#isDiskFull = free === 0;
  }

  /** Deletes objects that no process has open, those that were used last at the end, until so much is free. */
  #evict(bytes: number): number {
    let freed = 0;
    const oldest = this.objects().sort((a, b) => a.used - b.used);
    for (const object of oldest) {
      if (freed >= bytes) break;
      if (this.remove(object)) freed += object.bytes;
    }
    return freed;
  }

  /** All objects there are; what somebody who is not trusted has put there is none. */
  objects(): CachedEntry[] {
    if (this.root.missing !== undefined) return [];
    using objects = this.root.open([OBJECTS]);
    const found: CachedEntry[] = [];
    for (const parent of objects?.list() ?? []) {
      using above = unlessForeign(() => objects!.open(parent));
      for (const name of above?.list() ?? []) {
        const entry = unlessForeign(() => {
          using directory = above!.open(name);
          return directory && entryIn(directory, [parent, name]);
        });
        if (entry !== undefined) found.push(entry);
      }
    }
    return found;
  }

  /** Opens an object that there is; `undefined` where it is just being deleted. */
  reopen({ place, facts }: CachedEntry): CachedObject | undefined {
    using directory = this.#directoryOf(place);
    return directory && CachedObject.open(this, place, directory, facts.size);
  }

  /** Deletes an object, unless a process has it open. */
  remove({ place }: Pick<CachedEntry, "place">): boolean {
    using above = this.root.open([OBJECTS, place[0]]);
    using directory = above?.open(place[1]);
    if (directory === undefined) return false;
    using lock = unlessForeign(() => directory.openFile("lock", "write"));
    if (lock?.tryLock(true) === false) return false;
    for (const name of FILES) directory.remove(name);
    for (const name of directory.list()) { // of who was killed
      if (isTemporary(name, FACTS)) directory.remove(name);
    }
    above!.removeDirectory(place[1]);
    return true;
  }

  /** Claims of an object's blocks; `undefined` where the cache does not work. */
  claims(identity: string, { tag }: CachedFacts): RangeClaims | undefined {
    return this.root.missing === undefined
      ? new RangeClaims(this.root, `${identity}\n${tag}`)
      : undefined;
  }

  /** Deletes what directories held, and what programs claimed. */
  removeLists(): void {
    removeClaims(this.root);
    using lists = this.root.open([LISTS]);
    for (const name of lists?.list() ?? []) {
      if (!/^[0-9a-f]{32}\.json/.test(name)) continue; // it is not its own
      lists!.remove(name);
    }
  }

  /** What was done with an object, by all processes and over all its life. */
  countsOf({ place }: CachedEntry): ObjectCounts {
    const open = () => this.#directoryOf(place);
    return readCounts(place.join("/"), open);
  }

  #directoryOf(place: ObjectPlace): TrustedDirectory | undefined {
    return this.root.open([OBJECTS, ...place]);
  }
}

/** Names that are not those of what they stand for, which may be secret. */
function hash(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 32);
}

function parentOf(identity: string): string {
  return hash(`${BLOCK} ${identity}`);
}
