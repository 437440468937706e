import { createHash } from "node:crypto";
import { NotTrustedError, unlessForeign } from "../../directories/trust.ts";
import type { TrustedDirectory } from "../../directories/trusted_directory.ts";
import type { CacheOptions } from "../remote_options.ts";
import type { ListedFile } from "../listed_file.ts";
import { BLOCK } from "./block_store.ts";
import { OBJECTS } from "./cache_ledger.ts";
import { CacheRoom } from "./cache_room.ts";
import { CacheRoot } from "./cache_root.ts";
import {
  type CachedEntry,
  CachedObject,
  entryIn,
  type ObjectPlace,
} from "./cached_object.ts";
import { type ObjectCounts, readCounts } from "./object_counts.ts";
import { type CachedFacts, readList, writeJson } from "./object_facts.ts";
import { RangeClaims, removeClaims } from "./range_claims.ts";

const LISTS = "lists";
/**
 * Objects of servers on the disk, of which any number of processes keep blocks. It deletes only what it made itself:
 * directories below `objects`, named by hashes, with a `facts.json`.
 */
export class CacheDirectory {
  readonly root: CacheRoot;
  /** The limit that it keeps with other programs. */
  readonly room: CacheRoom;

  constructor(options: CacheOptions, onWarning: (message: string) => void) {
    this.root = new CacheRoot(options, onWarning);
    this.room = new CacheRoom(this.root, options.size);
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
        if (!entry.facts.isLasting) continue;
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
   * Opens an object for its blocks to be kept: until it is closed if its state cannot be told from others, or else for
   * other programs as well. Returns `undefined` where that can't be done, which is said once.
   */
  open(identity: string, facts: CachedFacts): CachedObject | undefined {
    const state = facts.isLasting ? facts.tag : crypto.randomUUID();
    const place = [parentOf(identity), hash(state)] as const;
    try {
      if (this.root.missing !== undefined) throw new Error(this.root.missing);
      return this.#enter(
        place,
        facts.size,
        (object, directory) => object.prepare(directory, facts),
      );
    } catch (error) {
      this.root.warn(error);
      return undefined;
    }
  }

  #enter(
    place: ObjectPlace,
    size: number,
    prepare: (object: CachedObject, directory: TrustedDirectory) => void,
  ): CachedObject | undefined {
    using directory = this.room.enter(place);
    if (directory === undefined) return undefined;
    let object: CachedObject | undefined;
    try {
      object = new CachedObject(this, place, directory, size);
      prepare(object, directory);
      return object;
    } catch (error) {
      if (object === undefined) this.room.leave(place);
      else object.close();
      throw error;
    }
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

  /** Opens an object that there is; `undefined` where it is gone. */
  reopen({ place, facts }: CachedEntry): CachedObject | undefined {
    using directory = this.#directoryOf(place);
    return directory && this.#enter(place, facts.size, () => {});
  }

  /** Deletes an object, unless a process has it open. */
  remove({ place }: Pick<CachedEntry, "place">): boolean {
    return this.room.remove(place);
  }

  /** Claims of an object's blocks; `undefined` where the cache does not work. */
  claims(identity: string, tag: string): RangeClaims | undefined {
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
