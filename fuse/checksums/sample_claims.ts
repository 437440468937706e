/** Number of large samples that can be claimed at a time; further ones are checked by whoever is asked. */
const CLAIMS = 16;

/** Words of a claim: whether it is taken, the node in two, and when its thread last was at it. */
const TAKEN = 0;
const LOW = 1;
const HIGH = 2;
const BEAT = 3;
const WORDS = 4;

/** A thread that was not at its sample for so many milliseconds is taken for dead. */
const LONGEST_PAUSE = 10_000;

/** Makes the memory of {@linkcode SampleClaims}. */
export function newSampleClaims(): SharedArrayBuffer {
  return new SharedArrayBuffer(CLAIMS * WORDS * Int32Array.BYTES_PER_ELEMENT);
}

/**
 * Which large samples are being checked by a thread of the mount, so that the others need only wait.
 * Two threads that claim the same one at the same moment both check it, which costs time and nothing else.
 */
export class SampleClaims {
  readonly #words: Int32Array;

  constructor(memory: SharedArrayBuffer) {
    this.#words = new Int32Array(memory);
  }

  /** Tells whether some thread is at that node. */
  has(node: number): boolean {
    const at = this.#find(node);
    return at >= 0 &&
      Math.abs(now() - Atomics.load(this.#words, at + BEAT)) < LONGEST_PAUSE;
  }

  /** Claims a node, if there is room to tell the others. */
  take(node: number): void {
    const words = this.#words;
    const old = this.#find(node); // of a thread that died
    if (old >= 0) return this.beat(node);
    for (let at = 0; at < words.length; at += WORDS) {
      if (Atomics.compareExchange(words, at + TAKEN, 0, 1) !== 0) continue;
      Atomics.store(words, at + LOW, node);
      Atomics.store(words, at + HIGH, node / 0x1_0000_0000);
      Atomics.store(words, at + BEAT, now());
      return;
    }
  }

  /** Says that this thread still is at its node. */
  beat(node: number): void {
    const at = this.#find(node);
    if (at >= 0) Atomics.store(this.#words, at + BEAT, now());
  }

  /** Gives a node back. */
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

/** Milliseconds, in 31 bits: only differences matter. */
function now(): number {
  return Date.now() % 0x8000_0000;
}
