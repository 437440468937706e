import type { TrustedDirectory } from "../../dirfd/trusted_directory.ts";
import { changedFile } from "../../storage/changed_file.ts";
import type { CacheDirectory } from "./cache_directory.ts";
import { CACHE_BLOCK } from "./block_store.ts";
import { OBJECTS } from "./cache_ledger.ts";
import { ObjectCounter } from "./object_counts.ts";
import {
  type CachedFacts,
  FACTS,
  readFacts,
  startOfMachine,
  writeFacts,
} from "./object_facts.ts";
import { PooledFile } from "./pooled_file.ts";

/** Part of what was added for which space is reserved ahead, and most bytes of that. Reserving takes a lock. */
const AHEAD = 16;
const MOST_AHEAD = 1 << 20;

/** Names below `objects`: of the object, and of its state. */
export type ObjectPlace = readonly [object: string, state: string];

export interface CachedEntry {
  readonly place: ObjectPlace;
  readonly facts: CachedFacts;
  /** Length of the file of its blocks: that of the object. */
  readonly length: number;
  readonly bytes: number;
  /** When it was last opened, in milliseconds since 1970. */
  readonly used: number;
}

/** Returns the object in a directory; `undefined` if there is none. */
export function entryIn(
  directory: TrustedDirectory,
  place: ObjectPlace,
): CachedEntry | undefined {
  const facts = readFacts(directory);
  const data = facts && directory.stat("data");
  const written = data && directory.stat(FACTS);
  if (written === undefined) return undefined;
  return {
    place,
    facts: facts!,
    length: data!.size,
    bytes: data!.blocks * 512,
    used: written.mtimeMs,
  };
}

/** An open object, which nobody deletes while it is open. Holds no descriptor: its files are opened on use. */
export class CachedObject {
  readonly path: string;
  readonly size: number;
  readonly counts: ObjectCounter;
  /** Its blocks, each at its offset in the object. */
  readonly data: PooledFile;
  readonly sums: PooledFile;
  readonly #cache: CacheDirectory;
  readonly #place: ObjectPlace;
  #isOfThisStart: boolean;
  #isLasting = true;
  /** Bytes of space used, and further bytes reserved. */
  #taken = 0;
  #ahead = 0;
  #isClosed = false;

  /** Creates missing files. The caller must have entered `place`; {@linkcode CachedObject.close} leaves it. */
  constructor(
    cache: CacheDirectory,
    place: ObjectPlace,
    directory: TrustedDirectory,
    size: number,
  ) {
    this.#cache = cache;
    this.#place = place;
    this.path = directory.path;
    this.size = size;
    const open = () => cache.root.open([OBJECTS, ...place]);
    this.#isOfThisStart = readFacts(directory)?.start === startOfMachine();
    // Older versions of the program lock it before they delete the others.
    directory.makeFile("lock").close();
    const [data, sums] = ["data", "sums"].map((name) => {
      const path = `${this.path}/${name}`;
      return new PooledFile(path, () => {
        using directory = open();
        const file = directory?.openFile(name, "write");
        if (file === undefined) throw changedFile(path);
        return file;
      });
    });
    this.data = data!;
    this.sums = sums!;
    try {
      this.data.begin(directory.makeFile("data"));
      this.sums.begin(directory.makeFile("sums"));
    } catch (error) {
      this.data.close();
      throw error;
    }
    this.counts = new ObjectCounter(this.path, open);
  }

  prepare(directory: TrustedDirectory, facts: CachedFacts): void {
    this.data.use((data) => {
      if (data.facts().size === facts.size) return;
      this.sums.use((sums) => sums.truncate(0)); // of blocks that are gone
      data.truncate(facts.size); // sparse
    });
    if (readFacts(directory) === undefined) {
      writeFacts(directory, facts);
      this.#isOfThisStart = true;
    }
    this.#isLasting = facts.isLasting;
    using file = directory.openFile(FACTS, "write");
    file?.touch(); // for LRU eviction
  }

  /** Whether everything in it was written since the machine started. */
  get isOfThisStart(): boolean {
    return this.#isOfThisStart;
  }

  /**
   * Reserves space for bytes to add, and more ahead the more was added already. Returns how many may be added: all, or
   * fewer whole blocks; 0 if the cache cannot be used.
   */
  takeRoom(bytes: number): number {
    try {
      if (bytes > this.#ahead) {
        const ahead = Math.min(MOST_AHEAD, Math.floor(this.#taken / AHEAD));
        const needed = bytes - this.#ahead;
        this.#ahead += this.#cache.room.take(this.#place, needed, ahead);
      }
      const taken = Math.min(bytes, this.#ahead);
      const whole = taken < bytes ? taken - taken % CACHE_BLOCK : taken;
      this.#ahead -= whole;
      this.#taken += whole;
      return whole;
    } catch (error) {
      this.failed(error);
      return 0;
    }
  }

  failed(error: unknown): void {
    this.#cache.root.warn(error);
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.counts.close();
    this.data.end();
    this.sums.end();
    const { room } = this.#cache;
    unlessFailing(() => {
      if (this.#ahead > 0) room.giveBack(this.#place, this.#ahead);
    });
    unlessFailing(() => room.leave(this.#place));
    if (!this.#isLasting) unlessFailing(() => void room.remove(this.#place));
  }
}

/** Ignores a call's failure, because making space checks everything against the disk. */
function unlessFailing(call: () => void): void {
  try {
    call();
  } catch {
    // The disk is full or failing; the caller that stores blocks warns of it.
  }
}
