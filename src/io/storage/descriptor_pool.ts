import {
  type DescriptorBudget,
  descriptorBudget,
} from "./descriptor_budget.ts";

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

/** The fewest idle ones that a thread keeps while others have many: fewer would be opened and closed all the time. */
const LEAST_IDLE = 2;

/** How often a descriptor is asked for where there is none, and the pause between, in ms. */
const TRIES = 30;
const PAUSE = 10;
const NEVER = new Int32Array(new SharedArrayBuffer(4));

/**
 * Open file descriptors of a thread, at most so many idle ones, the least recently used closed first.
 *
 * All threads share what the process may have: the system gives the lowest number that is free, so that a large one says
 * that all of them together have many open. Then this thread keeps fewer, and more again when numbers are low.
 *
 * Descriptors in use are never closed, so the limit is exceeded while more of them are in use at once,
 * and for no longer. Who can wait asks {@linkcode DescriptorPool.isBusy} first.
 */
export class DescriptorPool<Owner> {
  readonly #leases = new Map<Owner, Lease>(); // in order of use
  readonly #budgetOf: () => DescriptorBudget;
  #budget: DescriptorBudget = { mostIdle: 0, crowdedFrom: 0 };
  #limit = 0;
  /** Number of those in use. */
  #busy = 0;
  #calm: PromiseWithResolvers<void> | undefined;

  /** @param budgetOf Says what this thread may have; asked when the first one is lent. */
  constructor(budgetOf: () => DescriptorBudget) {
    this.#budgetOf = budgetOf;
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
      if (this.#limit === 0) this.#begin();
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

  /** Closes all that are idle, where the process needs descriptors for something else. */
  dropIdle(): void {
    for (const [owner, lease] of this.#leases) {
      if (lease.users === 0) this.drop(owner);
    }
  }

  #begin(): void {
    this.#budget = this.#budgetOf();
    this.#limit = this.#budget.mostIdle;
  }

  #open(open: () => Descriptor): Descriptor {
    for (let tries = 0;; tries++) {
      try {
        const descriptor = open();
        this.#share(descriptor.fd);
        return descriptor;
      } catch (error) {
        const { code } = error as { code?: unknown };
        if (code !== "EMFILE" || tries === TRIES) throw error;
        if (tries === 0) this.#haveFewest();
        // Other threads close theirs when they find none.
        else Atomics.wait(NEVER, 0, 0, PAUSE);
      }
    }
  }

  /** Nobody has any left: the process may have fewer than was thought, or others have them. */
  #haveFewest(): void {
    const { mostIdle, crowdedFrom } = this.#budget;
    this.#budget = { mostIdle, crowdedFrom: Math.ceil(crowdedFrom / 2) };
    this.#limit = 1;
    this.dropIdle();
  }

  /** Keeps fewer or more, by the number of a descriptor that was just opened. */
  #share(fd: number): void {
    const { mostIdle, crowdedFrom } = this.#budget;
    if (fd < crowdedFrom) {
      if (this.#limit < mostIdle) this.#limit++;
      return;
    }
    const least = Math.min(this.#limit, LEAST_IDLE);
    this.#limit = Math.max(this.#limit >> 2, least);
    while (this.#leases.size > this.#limit && this.#dropOldest());
  }

  /** Closes the idle descriptor that was not used for longest, where the limit is reached. */
  #makeRoom(): void {
    if (this.#leases.size >= this.#limit) this.#dropOldest();
  }

  /** @returns Whether one was idle. */
  #dropOldest(): boolean {
    for (const [owner, lease] of this.#leases) {
      if (lease.users > 0) continue;
      this.drop(owner);
      return true;
    }
    return false;
  }
}

/** Those of this thread. */
export const descriptors: DescriptorPool<object> = new DescriptorPool<object>(
  descriptorBudget,
);
