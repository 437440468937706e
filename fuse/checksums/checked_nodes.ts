/** Words before the bits. */
const GENERATION = 0;
const FIRST_BITS = 1;

/**
 * Which files of a mount have been compared with their checksums: one bit a node, in memory that the
 * threads of the mount share. A node beyond what was known when it was made is never remembered.
 */
export class CheckedNodes {
  readonly #words: Int32Array;
  readonly #nodes: number;

  /** @param memory As {@linkcode newCheckedNodes} made it. */
  constructor(memory: SharedArrayBuffer) {
    this.#words = new Int32Array(memory);
    this.#nodes = 32 * (this.#words.length - FIRST_BITS);
  }

  /** Number of times that all was invalidated. */
  get generation(): number {
    return Atomics.load(this.#words, GENERATION);
  }

  has(node: number): boolean {
    return node < this.#nodes &&
      (Atomics.load(this.#words, wordOf(node)) >>> node & 1) === 1;
  }

  /** Remembers a node, unless all was invalidated since its bytes were read. */
  add(node: number, generation: number): void {
    if (node >= this.#nodes) return;
    const bit = 1 << node; // of the lowest 5 bits of the node
    Atomics.or(this.#words, wordOf(node), bit);
    // Looked at behind it: a thread that invalidates counts first, and clears then.
    if (this.generation !== generation) {
      Atomics.and(this.#words, wordOf(node), ~bit);
    }
  }

  /** Invalidates all of them. */
  invalidate(): void {
    Atomics.add(this.#words, GENERATION, 1);
    this.#words.fill(0, FIRST_BITS);
  }
}

/** Makes the memory of {@linkcode CheckedNodes}: it takes room only where bits are set. */
export function newCheckedNodes(nodeCount: number): SharedArrayBuffer {
  const words = FIRST_BITS + Math.ceil((nodeCount + 1) / 32); // ids count from 1
  return new SharedArrayBuffer(words * Int32Array.BYTES_PER_ELEMENT);
}

function wordOf(node: number): number {
  return FIRST_BITS + Math.floor(node / 32);
}
