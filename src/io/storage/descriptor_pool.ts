import { libcIfPermitted } from "../libc/libc.ts";

/** An open file of the system. */
export interface Descriptor {
  readonly fd: number;
  close(): void;
}

/** An open descriptor, lent out by a {@linkcode DescriptorPool}. */
export interface Lease {
  readonly descriptor: Descriptor;
  users: number;
  /** To be closed when the last user returns it. */
  doomed: boolean;
}

/**
 * Open file descriptors, at most so many idle ones, the least recently used closed first.
 *
 * Descriptors in use are never closed, so the limit is exceeded while more of them are in use at once,
 * and for no longer. Who can wait asks {@linkcode DescriptorPool.isBusy} first.
 */
export class DescriptorPool<Owner> {
  readonly #leases = new Map<Owner, Lease>(); // in order of use
  readonly #mostIdle: () => number;
  #limit = 0;
  /** Number of those in use. */
  #busy = 0;
  #calm: PromiseWithResolvers<void> | undefined;

  /** @param mostIdle Says how many may be idle; asked when the first one is lent. */
  constructor(mostIdle: () => number) {
    this.#mostIdle = mostIdle;
  }

  /**
   * Whether as many descriptors are in use as should be: `while (pool.isBusy) await pool.calm();`. Also
   * where others wait already: who comes later must not keep them waiting for ever.
   */
  get isBusy(): boolean {
    return this.#busy > 0 &&
      (this.#busy >= this.#limit || this.#calm !== undefined);
  }

  /** Waits until half of them have been given back: all who wait then ask again. */
  calm(): Promise<void> {
    this.#calm ??= Promise.withResolvers();
    return this.#calm.promise;
  }

  /**
   * Lends the owner's descriptor, calling `open` where it has none.
   *
   * Every lease is to be given back with {@linkcode release}.
   */
  borrow(owner: Owner, open: () => Descriptor): Lease {
    let lease = this.#leases.get(owner);
    if (lease === undefined) {
      this.#limit ||= this.#mostIdle();
      this.#makeRoom();
      lease = { descriptor: this.#open(open), users: 0, doomed: false };
      this.#leases.set(owner, lease);
    } else if (this.#leases.size >= this.#limit) {
      this.#leases.delete(owner); // to the end: most recently used
      this.#leases.set(owner, lease);
    }
    if (lease.users++ === 0) this.#busy++;
    return lease;
  }

  /** Ends one use. */
  release(lease: Lease): void {
    lease.users--;
    if (lease.users > 0) return;
    this.#busy--;
    if (this.#calm !== undefined && this.#busy <= this.#limit / 2) {
      this.#calm.resolve();
      this.#calm = undefined;
    }
    if (lease.doomed) lease.descriptor.close();
    else if (this.#leases.size > this.#limit) this.#makeRoom();
  }

  /** Closes the owner's descriptor, or has its last user close it. */
  drop(owner: Owner): void {
    const lease = this.#leases.get(owner);
    if (lease === undefined) return;
    this.#leases.delete(owner);
    lease.doomed = true;
    if (lease.users === 0) lease.descriptor.close();
  }

  /** Where descriptors have run out, those that are idle here are closed before it is given up. */
  #open(open: () => Descriptor): Descriptor {
    try {
      return open();
    } catch (error) {
      if ((error as { code?: unknown }).code !== "EMFILE") throw error;
      for (const [owner, lease] of this.#leases) {
        if (lease.users === 0) this.drop(owner);
      }
      return open();
    }
  }

  /** Closes the idle descriptor that was not used for longest, where the limit is reached. */
  #makeRoom(): void {
    if (this.#leases.size < this.#limit) return;
    for (const [owner, lease] of this.#leases) {
      if (lease.users > 0) continue;
      this.drop(owner);
      return;
    }
  }
}

/** `RLIMIT_NOFILE`, from `asm-generic/resource.h`. */
const RLIMIT_NOFILE = 7;

/** Descriptors that one thread keeps where the process may have many, or where the system cannot be asked. */
const MOST = 128;
/** Fewer would be opened and closed all the time. */
const LEAST = 8;
/** A mount has four threads with files of their own, and the process needs some for other things. */
const SHARE = 8;

/**
 * How many descriptors one thread may keep open for later use: a share of what the process may have
 * (`ulimit -n`), which Linux tells where `--allow-ffi` is given; it is not asked for.
 */
export function mostIdleDescriptors(): number {
  // struct rlimit: the soft and the hard limit, 64 bits each.
  const limits = new BigUint64Array(2);
  const libc = libcIfPermitted();
  if (libc?.getrlimit(RLIMIT_NOFILE, limits) !== 0) return MOST;
  const share = Math.floor(Number(limits[0]) / SHARE);
  return Math.min(Math.max(share, LEAST), MOST);
}
