import {
  type DescriptorBudget,
  descriptorBudget,
} from "./descriptor_budget.ts";

export interface Descriptor {
  readonly fd: number;
  close(): void;
}

/** An open descriptor, borrowed from a {@linkcode DescriptorPool}. */
export interface Lease {
  readonly descriptor: Descriptor;
  users: number;
  /** Whether the last user closes it on return. */
  doomed: boolean;
}

/** Fewest idle descriptors while others have many. With fewer, files would be opened and closed constantly. */
const LEAST_IDLE = 2;

/** Attempts to open when no descriptor is left, and the pause in between, in ms. */
const TRIES = 30;
const PAUSE = 10;
const NEVER = new Int32Array(new SharedArrayBuffer(4));

/**
 * LRU pool of a thread's open descriptors, with a limit on idle ones.
 *
 * All threads share the process's limit. The system assigns the lowest free number, so a high number shows that all
 * threads together have many open. This thread then caches fewer, and more again when numbers are low.
 *
 * Descriptors in use are never closed, so the pool may exceed its limit while more are in use at once. Callers that can
 * wait check {@linkcode DescriptorPool.isBusy} first.
 */
export class DescriptorPool<Owner> {
  readonly #leases = new Map<Owner, Lease>(); // in order of use
  readonly #budgetOf: () => DescriptorBudget;
  #budget: DescriptorBudget = { mostIdle: 0, crowdedFrom: 0 };
  #limit = 0;
  /** Number of leases in use. */
  #busy = 0;
  #calm: PromiseWithResolvers<void> | undefined;

  constructor(budgetOf: () => DescriptorBudget) {
    this.#budgetOf = budgetOf;
  }

  /**
   * Whether as many descriptors are in use as should be: `while (pool.isBusy) await pool.calm();`. Also `true` if
   * others wait already, so that a latecomer cannot starve them.
   */
  get isBusy(): boolean {
    return this.#busy > 0 &&
      (this.#busy >= this.#limit || this.#calm !== undefined);
  }

  /** Waits until at most half of the limit is in use. All waiters then check again. */
  calm(): Promise<void> {
    this.#calm ??= Promise.withResolvers();
    return this.#calm.promise;
  }

  /** Lends the owner's descriptor, calling `open` if it has none. The caller must {@linkcode release} every lease. */
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

  /** Closes the owner's descriptor; if it is in use, the last user does. */
  drop(owner: Owner): void {
    const lease = this.#leases.get(owner);
    if (lease === undefined) return;
    this.#leases.delete(owner);
    lease.doomed = true;
    if (lease.users === 0) lease.descriptor.close();
  }

  /** Closes all idle descriptors, to free them for other uses of the process. */
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
        // Other threads close their idle ones when they find none.
        else Atomics.wait(NEVER, 0, 0, PAUSE);
      }
    }
  }

  /** Shrinks the pool when no descriptor is left: the limit is lower than assumed, or others hold them. */
  #haveFewest(): void {
    const { mostIdle, crowdedFrom } = this.#budget;
    this.#budget = { mostIdle, crowdedFrom: Math.ceil(crowdedFrom / 2) };
    this.#limit = 1;
    this.dropIdle();
  }

  /** Shrinks or grows the pool by the number of a descriptor just opened. */
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

  /** Closes the least recently used idle descriptor if the limit is reached. */
  #makeRoom(): void {
    if (this.#leases.size >= this.#limit) this.#dropOldest();
  }

  #dropOldest(): boolean {
    for (const [owner, lease] of this.#leases) {
      if (lease.users > 0) continue;
      this.drop(owner);
      return true;
    }
    return false;
  }
}

export const descriptors: DescriptorPool<object> = new DescriptorPool<object>(
  descriptorBudget,
);
