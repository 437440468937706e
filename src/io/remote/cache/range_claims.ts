import { createHash } from "node:crypto";
import type { EntryFile } from "../../directories/entries.ts";
import type { CacheRoot } from "./cache_root.ts";

/** Of the cache's directory: it is empty, and only its locks count. */
const FILE = "claims";
/** Blocks of an object, in the file: more than any has. */
const OBJECT = 1n << 32n;

/** What a program fetches of a cache's objects, by its locks, and what of that its own fetchers hold. */
class ClaimsFile {
  users = 0;
  readonly held = new Set<Claim>();
  readonly #root: CacheRoot;
  #file: EntryFile | undefined;
  #isBroken = false;

  constructor(root: CacheRoot) {
    this.#root = root;
  }

  /** The file; `undefined` where it can't be used, and all fetch what they want. */
  get file(): EntryFile | undefined {
    if (this.#file !== undefined || this.#isBroken) return this.#file;
    try {
      using root = this.#root.make([]);
      return this.#file = root.makeFile(FILE);
    } catch {
      this.#isBroken = true; // the store warns of a cache that does not work
      return undefined;
    }
  }

  /** Closes it for good: a request that is under way opens it no more. */
  close(): void {
    this.#isBroken = true;
    this.#file?.close();
    this.#file = undefined;
  }
}

/** Those of this thread, by the paths of their caches. */
const files = new Map<string, ClaimsFile>();

/** A range that nobody else fetches meanwhile. */
export interface Claim extends Disposable {
  readonly object: bigint;
  readonly first: number;
  readonly last: number;
}

/**
 * Claims of one object's blocks, by which the programs that share a cache fetch each block once: locks of a file's range
 * of bytes (`F_OFD_SETLK`), which the system lets go of when a program ends, however that happens.
 */
export class RangeClaims {
  readonly #path: string;
  readonly #file: ClaimsFile;
  readonly #object: bigint;
  #isClosed = false;

  /** @param object Tells it from all others of the cache. */
  constructor(root: CacheRoot, object: string) {
    this.#path = root.path;
    const file = files.get(root.path) ?? new ClaimsFile(root);
    files.set(root.path, file);
    file.users++;
    this.#file = file;
    const hash = createHash("sha256").update(object).digest();
    // Objects of one number wait for each other in vain, which is unlikely and does no harm.
    this.#object = BigInt(hash.readUInt32LE(0) & 0x7fffffff);
  }

  /**
   * Claims blocks, at once.
   *
   * @returns `undefined` if somebody else fetches some of them.
   */
  tryTake(first: number, last: number): Claim | undefined {
    const { held, file } = this.#file;
    const object = this.#object;
    for (const one of held) {
      const isApart = one.object !== object || one.last < first ||
        one.first > last;
      if (!isApart) return undefined;
    }
    const start = object * OBJECT + BigInt(first);
    const length = BigInt(last - first + 1);
    if (file?.tryLockRange(start, length) === false) return undefined;
    const claim: Claim = {
      object,
      first,
      last,
      [Symbol.dispose]() {
        if (held.delete(claim)) file?.unlockRange(start, length);
      },
    };
    held.add(claim);
    return claim;
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    if (--this.#file.users > 0) return;
    files.delete(this.#path);
    this.#file.close();
  }
}

/** Deletes the file, where one is. */
export function removeClaims(root: CacheRoot): void {
  using directory = root.open();
  directory?.remove(FILE);
}
