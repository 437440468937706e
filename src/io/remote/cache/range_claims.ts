import { createHash } from "node:crypto";
import type { EntryFile } from "../../dirfd/entries.ts";
import type { CacheRoot } from "./cache_root.ts";

/** Name of the lock file in the cache directory. It is empty; only its locks matter. */
const FILE = "claims";
/** Length of an object's range in the lock file, with a byte for each block: more than any object has. */
const OBJECT = 1n << 32n;

/** Locks of a cache's lock file, and the claims that this thread holds. */
class ClaimsFile {
  users = 0;
  readonly held = new Set<Claim>();
  readonly #root: CacheRoot;
  #file: EntryFile | undefined;
  #isBroken = false;

  constructor(root: CacheRoot) {
    this.#root = root;
  }

  /** The file; `undefined` if it cannot be used, so that nothing is claimed. */
  get file(): EntryFile | undefined {
    if (this.#file !== undefined || this.#isBroken) return this.#file;
    try {
      using root = this.#root.make([]);
      return this.#file = root.makeFile(FILE);
    } catch {
      this.#isBroken = true; // the store warns about a broken cache
      return undefined;
    }
  }

  /** Closes the file for good, so that requests in flight do not reopen it. */
  close(): void {
    this.#isBroken = true;
    this.#file?.close();
    this.#file = undefined;
  }
}

const files = new Map<string, ClaimsFile>();

/** A range of blocks that nobody else fetches meanwhile. */
export interface Claim extends Disposable {
  readonly object: bigint;
  readonly first: number;
  readonly last: number;
}

/**
 * Claims on one object's blocks, so that programs that share a cache fetch each block once. They are locks on byte
 * ranges of a file (`F_OFD_SETLK`), which the system releases when a program ends for whatever reason.
 */
export class RangeClaims {
  readonly #path: string;
  readonly #file: ClaimsFile;
  readonly #object: bigint;
  #isClosed = false;

  constructor(root: CacheRoot, object: string) {
    this.#path = root.path;
    const file = files.get(root.path) ?? new ClaimsFile(root);
    files.set(root.path, file);
    file.users++;
    this.#file = file;
    const hash = createHash("sha256").update(object).digest();
    // Objects with equal numbers wait for each other needlessly, which is unlikely and harmless.
    this.#object = BigInt(hash.readUInt32LE(0) & 0x7fffffff);
  }

  /** Tries to claim blocks, without waiting. Returns `undefined` if another fetcher has claimed some of them. */
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

/** Deletes the lock file, if it exists. */
export function removeClaims(root: CacheRoot): void {
  using directory = root.open();
  directory?.remove(FILE);
}
