import { newSharedMemory } from "../libc/new_memory.ts";

/** Memory of {@linkcode DecodedBlocks}. Threads that get it share their decoded blocks. */
export interface DecodedMemory {
  readonly bytes: SharedArrayBuffer;
  readonly table: SharedArrayBuffer;
}

/** Block size in bytes. The last block of a content may be shorter. */
export const DECODED_BLOCK = 1 << 16;
/** Default capacity in bytes. Memory is used on demand. */
const MOST_BYTES = 128 << 20;

/** Words before the table's columns. */
const Head = { LOCK: 0, HAND: 1, NEXT_OWNER: 2, USED: 3 } as const;
const HEAD = 4;
/** Words that mark contents being decoded; contents with equal hashes share one. */
const CLAIMS = 64;
/** Timeouts for waiting on other threads, in milliseconds: one may have been killed. */
const PATIENCE = 1000;
const DECODING = 10_000;

const NONE = -1;

/**
 * Cache of decoded blocks, shared by threads and limited in bytes. Evicts by clock (approximate LRU). A content is
 * identified by its owner, which is a container, and its number there.
 */
export class DecodedBlocks {
  readonly memory: DecodedMemory;
  readonly #bytes: Uint8Array;
  readonly #head: Int32Array;
  readonly #claims: Int32Array;
  // Per slot: owner (from 1 on), content and block; the next slot of the same hash; and whether it was used since the
  // clock hand passed.
  readonly #owners: Int32Array;
  readonly #contents: Int32Array;
  readonly #blocks: Int32Array;
  readonly #nexts: Int32Array;
  readonly #used: Int32Array;
  readonly #buckets: Int32Array;
  readonly #slots: number;

  constructor(memory: DecodedMemory = newMemory(MOST_BYTES)) {
    this.memory = memory;
    this.#bytes = new Uint8Array(memory.bytes);
    const slots = memory.bytes.byteLength / DECODED_BLOCK;
    this.#slots = slots;
    const { table } = memory;
    this.#head = new Int32Array(table, 0, HEAD);
    this.#claims = new Int32Array(table, 4 * HEAD, CLAIMS);
    const column = (i: number) =>
      new Int32Array(table, 4 * (HEAD + CLAIMS + i * slots), slots);
    this.#owners = column(0);
    this.#contents = column(1);
    this.#blocks = column(2);
    this.#nexts = column(3);
    this.#used = column(4);
    this.#buckets = column(5);
  }

  static ofSize(bytes: number): DecodedBlocks {
    return new DecodedBlocks(newMemory(bytes));
  }

  get capacity(): number {
    return this.#bytes.length;
  }

  /** Returns a unique number for a container. */
  newOwner(): number {
    return Atomics.add(this.#head, Head.NEXT_OWNER, 1) + 1;
  }

  /** Copies from a block, from offset `from` on, if it is cached. */
  read(
    owner: number,
    content: number,
    block: number,
    into: Uint8Array,
    from: number,
  ): boolean {
    if (!this.#lock()) return false;
    try {
      const slot = this.#find(owner, content, block);
      if (slot === NONE) return false;
      this.#used[slot] = 1;
      const start = slot * DECODED_BLOCK + from;
      into.set(this.#bytes.subarray(start, start + into.length));
      return true;
    } finally {
      this.#unlock();
    }
  }

  put(owner: number, content: number, block: number, bytes: Uint8Array): void {
    if (!this.#lock()) return;
    try {
      let slot = this.#find(owner, content, block);
      if (slot === NONE) {
        slot = this.#free();
        this.#owners[slot] = owner;
        this.#contents[slot] = content;
        this.#blocks[slot] = block;
        const bucket = this.#bucketOf(owner, content, block);
        this.#nexts[slot] = this.#buckets[bucket]!;
        this.#buckets[bucket] = slot + 1;
      }
      this.#used[slot] = 1;
      this.#bytes.set(bytes, slot * DECODED_BLOCK);
    } finally {
      this.#unlock();
    }
  }

  /** Drops blocks from `first` on, of so many bytes. */
  drop(owner: number, content: number, size: number, first = 0): void {
    if (!this.#lock()) return;
    try {
      for (let block = 0; block * DECODED_BLOCK < size; block++) {
        const slot = this.#find(owner, content, first + block);
        if (slot !== NONE) this.#remove(slot);
      }
    } finally {
      this.#unlock();
    }
  }

  /**
   * Claims the decoding of a content, until {@linkcode DecodedBlocks.release}. Waits if another thread has the claim.
   *
   * @param first First block of what is decoded, if that is a part of the content.
   * @returns `false` if another thread had the claim; it has released it, or takes very long.
   */
  claim(owner: number, content: number, first = 0): boolean {
    const at = this.#claimOf(owner, content, first);
    if (Atomics.compareExchange(this.#claims, at, 0, 1) === 0) return true;
    Atomics.wait(this.#claims, at, 1, DECODING);
    return false;
  }

  release(owner: number, content: number, first = 0): void {
    const at = this.#claimOf(owner, content, first);
    Atomics.store(this.#claims, at, 0);
    Atomics.notify(this.#claims, at);
  }

  #claimOf(owner: number, content: number, first: number): number {
    return mixed(owner, content, first) & CLAIMS - 1;
  }

  #find(owner: number, content: number, block: number): number {
    let next = this.#buckets[this.#bucketOf(owner, content, block)]!;
    while (next > 0) {
      const slot = next - 1;
      const isIt = this.#blocks[slot] === block &&
        this.#contents[slot] === content && this.#owners[slot] === owner;
      if (isIt) return slot;
      next = this.#nexts[slot]!;
    }
    return NONE;
  }

  /** Returns a free slot, evicting a block that was not used since the clock hand last passed. */
  #free(): number {
    const used = this.#head[Head.USED]!;
    if (used < this.#slots) { // memory not touched yet
      this.#head[Head.USED] = used + 1;
      return used;
    }
    for (;;) {
      const slot = this.#head[Head.HAND]!;
      this.#head[Head.HAND] = (slot + 1) % this.#slots;
      if (this.#used[slot] !== 0) {
        this.#used[slot] = 0;
        continue;
      }
      if (this.#owners[slot] !== 0) this.#remove(slot);
      return slot;
    }
  }

  #remove(slot: number): void {
    const bucket = this.#bucketOf(
      this.#owners[slot]!,
      this.#contents[slot]!,
      this.#blocks[slot]!,
    );
    const after = this.#nexts[slot]!;
    let at = this.#buckets[bucket]!;
    if (at === slot + 1) this.#buckets[bucket] = after;
    else {
      while (this.#nexts[at - 1] !== slot + 1) at = this.#nexts[at - 1]!;
      this.#nexts[at - 1] = after;
    }
    this.#owners[slot] = 0;
    this.#used[slot] = 0;
  }

  #bucketOf(owner: number, content: number, block: number): number {
    return (mixed(owner, content, block) >>> 0) % this.#slots;
  }

  /** Locks the table. Other threads hold the lock only to copy a block. */
  #lock(): boolean {
    const head = this.#head;
    const deadline = performance.now() + PATIENCE;
    while (Atomics.compareExchange(head, Head.LOCK, 0, 1) !== 0) {
      Atomics.wait(head, Head.LOCK, 1, 1);
      if (performance.now() > deadline) return false;
    }
    return true;
  }

  #unlock(): void {
    Atomics.store(this.#head, Head.LOCK, 0);
    Atomics.notify(this.#head, Head.LOCK, 1);
  }
}

let own: DecodedBlocks | undefined;

/** Returns this thread's cache, for all containers that it has opened itself. */
export function decodedBlocks(): DecodedBlocks {
  return own ??= new DecodedBlocks();
}

function newMemory(bytes: number): DecodedMemory {
  const slots = Math.max(1, Math.floor(bytes / DECODED_BLOCK));
  return {
    bytes: newSharedMemory(slots * DECODED_BLOCK),
    table: newSharedMemory(4 * (HEAD + CLAIMS + 6 * slots)),
  };
}

function mixed(owner: number, content: number, block: number): number {
  let hash = Math.imul(owner, 0x9e3779b1) ^ Math.imul(content, 0x85ebca6b);
  hash = Math.imul(hash ^ hash >>> 15 ^ block, 0xc2b2ae35);
  return hash ^ hash >>> 13;
}
