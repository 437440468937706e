import { newSharedMemory } from "../libc/new_memory.ts";

/** Memory of {@linkcode DecodedBlocks}: threads that are given it share what any of them has decoded. */
export interface DecodedMemory {
  readonly bytes: SharedArrayBuffer;
  readonly table: SharedArrayBuffer;
}

/** Bytes of a block; the last one of a content may have fewer. */
export const BLOCK = 1 << 16;
/** Bytes that are kept, unless it is said otherwise; memory is taken as it is needed. */
const MOST_BYTES = 128 << 20;

/** Words before the table's columns. */
const Head = { LOCK: 0, HAND: 1, NEXT_OWNER: 2, USED: 3 } as const;
const HEAD = 4;
/** Contents that several threads may be decoding; more share a place. */
const CLAIMS = 64;
/** How long a thread waits for others, in milliseconds: one may have been killed. */
const PATIENCE = 1000;
const DECODING = 10_000;

const NONE = -1;

/**
 * Blocks of contents that had to be decoded, up to so many bytes: those that were used of late stay. A content is known
 * by its owner, which is a container, and its number there.
 */
export class DecodedBlocks {
  readonly memory: DecodedMemory;
  readonly #bytes: Uint8Array;
  readonly #head: Int32Array;
  readonly #claims: Int32Array;
  // Per slot: whose it is (an owner from 1 on), the content, its block, and which slot has the same hash; and whether it
  // was used since the hand passed.
  readonly #owners: Int32Array;
  readonly #contents: Int32Array;
  readonly #blocks: Int32Array;
  readonly #nexts: Int32Array;
  readonly #used: Int32Array;
  readonly #buckets: Int32Array;
  readonly #slots: number;

  /** @param memory What another thread gave; its own, unless given. */
  constructor(memory: DecodedMemory = newMemory(MOST_BYTES)) {
    this.memory = memory;
    this.#bytes = new Uint8Array(memory.bytes);
    const slots = memory.bytes.byteLength / BLOCK;
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

  /** Makes one with room for so many bytes. */
  static ofSize(bytes: number): DecodedBlocks {
    return new DecodedBlocks(newMemory(bytes));
  }

  /** Bytes that there is room for. */
  get capacity(): number {
    return this.#bytes.length;
  }

  /** A number for a container, which no other has. */
  newOwner(): number {
    return Atomics.add(this.#head, Head.NEXT_OWNER, 1) + 1;
  }

  /**
   * Copies from a block, if it is there.
   *
   * @param from Where in the block.
   */
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
      const start = slot * BLOCK + from;
      into.set(this.#bytes.subarray(start, start + into.length));
      return true;
    } finally {
      this.#unlock();
    }
  }

  /** Keeps a block. */
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
      this.#bytes.set(bytes, slot * BLOCK);
    } finally {
      this.#unlock();
    }
  }

  /** Forgets a content. */
  drop(owner: number, content: number, size: number): void {
    if (!this.#lock()) return;
    try {
      for (let block = 0; block * BLOCK < size; block++) {
        const slot = this.#find(owner, content, block);
        if (slot !== NONE) this.#remove(slot);
      }
    } finally {
      this.#unlock();
    }
  }

  /**
   * Says that this thread decodes a content, without waiting for anything, until {@linkcode DecodedBlocks.release}.
   *
   * @returns `false` where another one did; it has ended, or takes very long.
   */
  claim(owner: number, content: number): boolean {
    const at = this.#claimOf(owner, content);
    if (Atomics.compareExchange(this.#claims, at, 0, 1) === 0) return true;
    Atomics.wait(this.#claims, at, 1, DECODING);
    return false;
  }

  /** Ends what {@linkcode DecodedBlocks.claim} began. */
  release(owner: number, content: number): void {
    const at = this.#claimOf(owner, content);
    Atomics.store(this.#claims, at, 0);
    Atomics.notify(this.#claims, at);
  }

  #claimOf(owner: number, content: number): number {
    return mixed(owner, content, 0) & CLAIMS - 1;
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

  /** A slot that nothing is in: those that were not used since the hand passed last are emptied. */
  #free(): number {
    const used = this.#head[Head.USED]!;
    if (used < this.#slots) { // memory that nobody has touched yet
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

  /** Waits for the table; others only copy a block meanwhile. */
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

/** The blocks that this thread has decoded, of all containers that it has opened itself. */
export function decodedBlocks(): DecodedBlocks {
  return own ??= new DecodedBlocks();
}

function newMemory(bytes: number): DecodedMemory {
  const slots = Math.max(1, Math.floor(bytes / BLOCK));
  return {
    bytes: newSharedMemory(slots * BLOCK),
    table: newSharedMemory(4 * (HEAD + CLAIMS + 6 * slots)),
  };
}

function mixed(owner: number, content: number, block: number): number {
  let hash = Math.imul(owner, 0x9e3779b1) ^ Math.imul(content, 0x85ebca6b);
  hash = Math.imul(hash ^ hash >>> 15 ^ block, 0xc2b2ae35);
  return hash ^ hash >>> 13;
}
