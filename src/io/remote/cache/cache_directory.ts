import { createHash } from "node:crypto";
import type { MessageListener } from "../../../base/named_option.ts";
import { NotTrustedError, unlessForeign } from "../../dirfd/trust.ts";
import type { TrustedDirectory } from "../../dirfd/trusted_directory.ts";
import type { CacheOptions } from "../remote_options.ts";
import type { ListedFile } from "../listed_file.ts";
import { CACHE_BLOCK } from "./block_store.ts";
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
 * Cache of server objects on disk, whose blocks any number of processes store. Deletes only what it created:
 * directories below `objects`, named by hashes, with a `facts.json`.
 */
export class CacheDirectory {
  readonly root: CacheRoot;
  /** The limit, shared with other programs. */
  readonly room: CacheRoom;

  constructor(options: CacheOptions, onWarning: MessageListener) {
    this.root = new CacheRoot(options, onWarning);
    this.room = new CacheRoom(this.root, options.size);
  }

  /** Returns an object's last known state, if any of it is cached. `identity` is unique and not written anywhere. */
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
        // The data file gets its full length before the facts are written.
        if (entry === undefined || entry.length !== entry.facts.size) continue;
        if (!entry.facts.isLasting) continue;
        if (last === undefined || entry.used > last.used) last = entry;
      }
      return last?.facts;
    });
  }

  /** Returns a directory's entries when it was last listed. */
  lastList(identity: string): readonly ListedFile[] | undefined {
    return this.#look(() => {
      using lists = this.root.open([LISTS]);
      return lists && readList(lists, `${hash(identity)}.json`);
    });
  }

  /** Caches a directory's entries, for programs that continue while its server is away. */
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
   * Opens an object to store its blocks. They are also for other programs if its state has a unique tag; otherwise they
   * are deleted when it is closed. Returns `undefined`, with a warning given once, if that fails.
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

  /** Reads from the cache. Warns once about an untrusted directory, and ignores it. */
  #look<T>(look: () => T): T | undefined {
    if (this.root.missing !== undefined) return undefined;
    try {
      return look();
    } catch (error) {
      if (error instanceof NotTrustedError) this.root.warn(error);
      return undefined;
    }
  }

  /** Lists all objects, except what untrusted users have put there. */
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

  reopen({ place, facts }: CachedEntry): CachedObject | undefined {
    using directory = this.#directoryOf(place);
    return directory && this.#enter(place, facts.size, () => {});
  }

  /** Deletes an object, unless a process has it open. */
  remove({ place }: Pick<CachedEntry, "place">): boolean {
    return this.room.remove(place);
  }

  /** Returns claims on an object's blocks; `undefined` if the cache cannot be used. */
  claims(identity: string, tag: string): RangeClaims | undefined {
    return this.root.missing === undefined
      ? new RangeClaims(this.root, `${identity}\n${tag}`)
      : undefined;
  }

  /** Deletes directory listings and claims. */
  removeLists(): void {
    removeClaims(this.root);
    using lists = this.root.open([LISTS]);
    for (const name of lists?.list() ?? []) {
      if (!/^[0-9a-f]{32}\.json/.test(name)) continue; // not created by this cache
      lists!.remove(name);
    }
  }

  countsOf({ place }: CachedEntry): ObjectCounts {
    const open = () => this.#directoryOf(place);
    return readCounts(place.join("/"), open);
  }

  #directoryOf(place: ObjectPlace): TrustedDirectory | undefined {
    return this.root.open([OBJECTS, ...place]);
  }
}

/** Hashes a name, which may be secret. */
function hash(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 32);
}

function parentOf(identity: string): string {
  return hash(`${CACHE_BLOCK} ${identity}`);
}
