import type { TrustedDirectory } from "../../directories/trusted_directory.ts";
import { changedFile } from "../../storage/changed_file.ts";
import type { CacheDirectory } from "./cache_directory.ts";
import { BLOCK } from "./block_store.ts";
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

/** Part of what was added for which room is taken ahead, and most bytes: that takes a lock. */
const AHEAD = 16;
const MOST_AHEAD = 1 << 20;

/** Names below `objects`: of the object, and of its state. */
export type ObjectPlace = readonly [object: string, state: string];

/** An object in the cache. */
export interface CachedEntry {
  readonly place: ObjectPlace;
  readonly facts: CachedFacts;
  /** Bytes of the file of its blocks: those of the object. */
  readonly length: number;
  /** Bytes that it takes on the disk. */
  readonly bytes: number;
  /** When it was opened last, in milliseconds since 1970. */
  readonly used: number;
}

/** What is in the directory of an object; `undefined` where that is none. */
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

/** An object that is open: nobody deletes it meanwhile. It holds no descriptor: its files are opened as they are used. */
export class CachedObject {
  /** Its directory's path. */
  readonly path: string;
  readonly size: number;
  /** What this process does with it. */
  readonly counts: ObjectCounter;
  /** Its blocks, each where it is in the object. */
  readonly data: PooledFile;
  /** Checksums of its blocks. */
  readonly sums: PooledFile;
  readonly #cache: CacheDirectory;
  readonly #place: ObjectPlace;
  #isOfThisStart: boolean;
  #isLasting = true;
  /** Bytes of room that were taken, and for how many more it is there. */
  #taken = 0;
  #ahead = 0;
  #isClosed = false;

  /**
   * Opens an object, whose files are made where they are missing.
   *
   * @param place Entered by the caller; {@linkcode CachedObject.close} leaves it.
   */
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
    // Programs of older versions take it before they delete the others.
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

  /** Makes its files what they are for an object of such facts. */
  prepare(directory: TrustedDirectory, facts: CachedFacts): void {
    this.data.use((data) => {
      if (data.facts().size === facts.size) return;
      this.sums.use((sums) => sums.truncate(0)); // of blocks that are not there any more
      data.truncate(facts.size); // sparse
    });
    if (readFacts(directory) === undefined) {
      writeFacts(directory, facts);
      this.#isOfThisStart = true;
    }
    this.#isLasting = facts.isLasting;
    using file = directory.openFile(FACTS, "write");
    file?.touch(); // what was used last goes last
  }

  /** Whether all that is there was written since the machine was started. */
  get isOfThisStart(): boolean {
    return this.#isOfThisStart;
  }

  /**
   * Takes room for bytes that are added, and some ahead where much was added already.
   *
   * @returns How many may be added: all, or fewer whole blocks; none where the cache does not work.
   */
  takeRoom(bytes: number): number {
    try {
      if (bytes > this.#ahead) {
        const ahead = Math.min(MOST_AHEAD, Math.floor(this.#taken / AHEAD));
        const needed = bytes - this.#ahead;
        this.#ahead += this.#cache.room.take(this.#place, needed, ahead);
      }
      const taken = Math.min(bytes, this.#ahead);
      const whole = taken < bytes ? taken - taken % BLOCK : taken;
      this.#ahead -= whole;
      this.#taken += whole;
      return whole;
    } catch (error) {
      this.failed(error);
      return 0;
    }
  }

  /** Says that its files can't be used. */
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

/** Runs a call whose failure is put right when room is made: nothing is believed until then. */
function unlessFailing(call: () => void): void {
  try {
    call();
  } catch {
    // The disk is full or failing, of which those who keep blocks are warned.
  }
}
