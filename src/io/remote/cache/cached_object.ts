import type { TrustedDirectory } from "../../directories/trusted_directory.ts";
import { changedFile } from "../../storage/changed_file.ts";
import type { CacheDirectory } from "./cache_directory.ts";
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

  /** {@linkcode CacheRoom.take}; none where the cache does not work. */
  takeRoom(bytes: number): number {
    try {
      return this.#cache.room.take(this.#place, bytes);
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
    this.data.close();
    this.sums.close();
    this.#cache.room.leave(this.#place);
    if (this.#isLasting) return;
    try {
      this.#cache.remove({ place: this.#place });
    } catch {
      // It is not believed, and deleted when room is made.
    }
  }
}
