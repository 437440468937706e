/** Layout in words: a generation counter, a table of large nodes, then the bits. */
const GENERATION = 0;
const FIRST_SLOT = 1;
const SLOTS = 1 << 12;
const FIRST_BITS = FIRST_SLOT + 2 * SLOTS;

/** Words of a slot: the low 32 bits of its node, and the others plus 1; 0 if it is empty. */
const LOW = 0;
const HIGH = 1;
/** High word of a slot that is being written. */
const LOCKED = -1;

/**
 * Nodes whose checksums have been verified, in memory that the threads of a mount share: a bitmap, and for the nodes
 * beyond the node count at creation a table that remembers some of them.
 */
export class CheckedNodes {
  readonly #words: Int32Array;
  readonly #nodes: number;

  constructor(memory: SharedArrayBuffer) {
    this.#words = new Int32Array(memory);
    this.#nodes = 32 * (this.#words.length - FIRST_BITS);
  }

  get generation(): number {
    return Atomics.load(this.#words, GENERATION);
  }

  has(node: number): boolean {
    if (node >= this.#nodes) return this.#hasLarge(node);
    return (Atomics.load(this.#words, wordOf(node)) >>> node & 1) === 1;
  }

  /** Records a node, unless an invalidation happened after its bytes were read. */
  add(node: number, generation: number): void {
    if (node >= this.#nodes) return this.#addLarge(node, generation);
    const bit = 1 << node; // of the lowest 5 bits of the node
    Atomics.or(this.#words, wordOf(node), bit);
    // Check after setting the bit: an invalidating thread first counts, then clears.
    if (this.generation !== generation) {
      Atomics.and(this.#words, wordOf(node), ~bit);
    }
  }

  /** Clears all bits and starts a new generation. */
  invalidate(): void {
    Atomics.add(this.#words, GENERATION, 1);
    for (let at = FIRST_SLOT; at < FIRST_BITS; at += 2) {
      const high = Atomics.load(this.#words, at + HIGH);
      // Who writes a slot sees the new generation.
      if (high !== LOCKED) {
        Atomics.compareExchange(this.#words, at + HIGH, high, 0);
      }
    }
    this.#words.fill(0, FIRST_BITS);
  }

  #hasLarge(node: number): boolean {
    const words = this.#words;
    const at = slotOf(node);
    const high = highOf(node);
    // A slot that is written meanwhile with the same high word has a node of that: then it is the one that was read.
    return Atomics.load(words, at + HIGH) === high &&
      Atomics.load(words, at + LOW) === (node | 0) &&
      Atomics.load(words, at + HIGH) === high;
  }

  #addLarge(node: number, generation: number): void {
    const words = this.#words;
    const at = slotOf(node);
    const before = Atomics.load(words, at + HIGH);
    if (before === LOCKED) return; // another thread's node takes the slot
    const taken = Atomics.compareExchange(words, at + HIGH, before, LOCKED);
    if (taken !== before) return;
    Atomics.store(words, at + LOW, node);
    const isCurrent = this.generation === generation;
    Atomics.store(words, at + HIGH, isCurrent ? highOf(node) : 0);
    if (this.generation !== generation) Atomics.store(words, at + HIGH, 0);
  }
}

/** Allocates the memory of {@linkcode CheckedNodes}. Pages without set bits take no physical memory. */
export function newCheckedNodes(nodeCount: number): SharedArrayBuffer {
  const words = FIRST_BITS + Math.ceil((nodeCount + 1) / 32); // ids count from 1
  return new SharedArrayBuffer(words * Int32Array.BYTES_PER_ELEMENT);
}

/** Returns the first word of the slot of a node, by its bits mixed. */
function slotOf(node: number): number {
  const mixed = Math.imul(node ^ highOf(node) * 0x9e3779b1, 0x85ebca6b);
  return FIRST_SLOT + 2 * (mixed >>> 20);
}

function highOf(node: number): number {
  return Math.floor(node / 0x1_0000_0000) + 1;
}

function wordOf(node: number): number {
  return FIRST_BITS + Math.floor(node / 32);
}
