/** Number of large samples that can be claimed at a time. Others are checked by every thread that is asked. */
const CLAIMS = 16;

/** Words of a claim: whether it is taken, the node in two words, and the time of the last heartbeat. */
const TAKEN = 0;
const LOW = 1;
const HIGH = 2;
const BEAT = 3;
const WORDS = 4;

/** Milliseconds without a heartbeat after which a claiming thread counts as dead. */
const LONGEST_PAUSE = 10_000;

export function newSampleClaims(): SharedArrayBuffer {
  return new SharedArrayBuffer(CLAIMS * WORDS * Int32Array.BYTES_PER_ELEMENT);
}

/**
 * Claims of large samples by the threads of a mount, so that only one thread checks each. If two threads
 * claim a sample at the same moment, both check it: this wastes time but is otherwise harmless.
 */
export class SampleClaims {
  readonly #words: Int32Array;

  constructor(memory: SharedArrayBuffer) {
    this.#words = new Int32Array(memory);
  }

  /** Whether a live thread has claimed the node. */
  has(node: number): boolean {
    const at = this.#find(node);
    return at >= 0 &&
      Math.abs(now() - Atomics.load(this.#words, at + BEAT)) < LONGEST_PAUSE;
  }

  /** Claims a node. Does nothing if all {@linkcode CLAIMS} are taken. */
  take(node: number): void {
    const words = this.#words;
    const old = this.#find(node); // claim of a dead thread
    if (old >= 0) return this.beat(node);
    for (let at = 0; at < words.length; at += WORDS) {
      if (Atomics.compareExchange(words, at + TAKEN, 0, 1) !== 0) continue;
      Atomics.store(words, at + LOW, node);
      Atomics.store(words, at + HIGH, node / 0x1_0000_0000);
      Atomics.store(words, at + BEAT, now());
      return;
    }
  }

  /** Renews this thread's claim of a node. */
  beat(node: number): void {
    const at = this.#find(node);
    if (at >= 0) Atomics.store(this.#words, at + BEAT, now());
  }

  free(node: number): void {
    const at = this.#find(node);
    if (at < 0) return;
    Atomics.store(this.#words, at + LOW, 0);
    Atomics.store(this.#words, at + HIGH, 0);
    Atomics.store(this.#words, at + TAKEN, 0);
  }

  #find(node: number): number {
    const words = this.#words;
    const high = Math.floor(node / 0x1_0000_0000);
    for (let at = 0; at < words.length; at += WORDS) {
      if (
        Atomics.load(words, at + TAKEN) === 1 &&
        Atomics.load(words, at + LOW) === (node | 0) &&
        Atomics.load(words, at + HIGH) === high
      ) return at;
    }
    return -1;
  }
}

/** Time in milliseconds, modulo 2^31: only differences matter. */
function now(): number {
  return Date.now() % 0x8000_0000;
}
