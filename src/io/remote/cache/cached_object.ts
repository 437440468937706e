import type { EntryFile } from "../../directories/entries.ts";
import type { TrustedDirectory } from "../../directories/trusted_directory.ts";
import type { CacheDirectory } from "./cache_directory.ts";
import { ObjectCounter } from "./object_counts.ts";
import {
  type CachedFacts,
  FACTS,
  readFacts,
  startOfMachine,
  writeFacts,
} from "./object_facts.ts";

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

/** An object that is open: nobody deletes it meanwhile. */
export class CachedObject {
  /** Its directory's path. */
  readonly path: string;
  readonly size: number;
  /** What this process does with it. */
  readonly counts: ObjectCounter;
  /** Its blocks, each where it is in the object. */
  readonly data: EntryFile;
  /** Checksums of its blocks. */
  readonly sums: EntryFile;
  readonly #cache: CacheDirectory;
  readonly #lock: EntryFile;
  #isOfThisStart: boolean;

  private constructor(
    cache: CacheDirectory,
    place: ObjectPlace,
    directory: TrustedDirectory,
    size: number,
    [data, sums, lock]: readonly [EntryFile, EntryFile, EntryFile],
  ) {
    this.#cache = cache;
    this.path = directory.path;
    this.size = size;
    this.data = data;
    this.sums = sums;
    this.#lock = lock;
    this.#isOfThisStart = readFacts(directory)?.start === startOfMachine();
    this.counts = new ObjectCounter(
      this.path,
      () => cache.root.open(["objects", ...place]),
    );
  }

  /**
   * Opens the files of an object, which are made where they are missing.
   *
   * @returns `undefined` where it is just being deleted.
   */
  static open(
    cache: CacheDirectory,
    place: ObjectPlace,
    directory: TrustedDirectory,
    size: number,
  ): CachedObject | undefined {
    const files: EntryFile[] = [];
    try {
      const [data, sums, lock] = ["data", "sums", "lock"].map((name) => {
        const file = directory.makeFile(name);
        files.push(file);
        return file;
      });
      // Deleted meanwhile, the lock has another file's name, or none.
      const isHeld = lock!.tryLock(false) &&
        directory.stat("lock")?.inode === lock!.facts().inode;
      if (isHeld) {
        const all = [data!, sums!, lock!] as const;
        const object = new CachedObject(cache, place, directory, size, all);
        files.length = 0;
        return object;
      }
    } finally {
      for (const file of files) file.close();
    }
    return undefined;
  }

  /** Makes its files what they are for an object of such facts. */
  prepare(directory: TrustedDirectory, facts: CachedFacts): void {
    if (this.data.facts().size !== facts.size) {
      this.sums.truncate(0); // of blocks that are not there any more
      this.data.truncate(facts.size); // sparse
    }
    if (readFacts(directory) === undefined) {
      writeFacts(directory, facts);
      this.#isOfThisStart = true;
    }
    using file = directory.openFile(FACTS, "write");
    file?.touch(); // what was used last goes last
  }

  /** Whether all that is there was written since the machine was started. */
  get isOfThisStart(): boolean {
    return this.#isOfThisStart;
  }

  /** {@linkcode CacheDirectory.takeRoom}; none where the cache does not work. */
  takeRoom(bytes: number): number {
    try {
      return this.#cache.takeRoom(bytes);
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
    this.counts.close();
    this.data.close();
    this.sums.close();
    this.#lock.close();
  }
}
