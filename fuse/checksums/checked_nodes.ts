/** Layout in words: a generation counter, then the bits. */
const GENERATION = 0;
const FIRST_BITS = 1;

/**
 * Bitmap of the nodes whose checksums have been verified, one bit a node, in memory that the threads of a
 * mount share. Nodes beyond the node count at creation are never recorded.
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
    return node < this.#nodes &&
      (Atomics.load(this.#words, wordOf(node)) >>> node & 1) === 1;
  }

  /** Records a node, unless an invalidation happened after its bytes were read. */
  add(node: number, generation: number): void {
    if (node >= this.#nodes) return;
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
    this.#words.fill(0, FIRST_BITS);
  }
}

/** Allocates the memory of {@linkcode CheckedNodes}. Pages without set bits take no physical memory. */
export function newCheckedNodes(nodeCount: number): SharedArrayBuffer {
  const words = FIRST_BITS + Math.ceil((nodeCount + 1) / 32); // ids count from 1
  return new SharedArrayBuffer(words * Int32Array.BYTES_PER_ELEMENT);
}

function wordOf(node: number): number {
  return FIRST_BITS + Math.floor(node / 32);
}
