import type { Waiting } from "./waiting.ts";

/** Memory of at least this size is kept for later flights: new memory has to be cleared. */
const LARGE = 1 << 20;
/** Bytes that are kept for that. */
const MOST_SPARE = 16 << 20;

/** By size. */
const spare = new Map<number, ArrayBuffer[]>();
let spareBytes = 0;

function takeMemory(length: number): Uint8Array<ArrayBuffer> {
  const kept = spare.get(length)?.pop();
  if (kept === undefined) return new Uint8Array(length);
  spareBytes -= length;
  return new Uint8Array(kept);
}

/** Has memory used again that nobody looks at any more. */
export function giveBack({ buffer }: Uint8Array<ArrayBuffer>): void {
  const { byteLength } = buffer;
  if (byteLength < LARGE || spareBytes + byteLength > MOST_SPARE) return;
  const same = spare.get(byteLength) ?? [];
  same.push(buffer);
  spare.set(byteLength, same);
  spareBytes += byteLength;
}

/** A range that is on its way: whoever waits for some of it has that as soon as it is there. */
export class Flight {
  readonly start: number;
  readonly end: number;
  /** Taken when the first bytes come: many may be waiting for a server that is away. */
  #memory: Uint8Array<ArrayBuffer> | undefined;
  #arrived = 0;
  readonly #waiting = new Set<Waiting>();

  /** @param end Behind its last byte. */
  constructor(start: number, end: number) {
    this.start = start;
    this.end = end;
  }

  /** Whether a byte is of it. */
  covers(offset: number): boolean {
    return offset >= this.start && offset < this.end;
  }

  get length(): number {
    return this.end - this.start;
  }

  /** What has come, until {@linkcode Flight.land}. */
  get bytes(): Uint8Array<ArrayBuffer> {
    return this.#memory?.subarray(0, this.#arrived) ?? NOTHING;
  }

  /** Gives someone what has come, and what comes. */
  add(waiting: Waiting): void {
    if (this.#waiting.has(waiting)) return; // of which several parts are of it
    waiting.take(this.bytes, this.start);
    if (this.#hasFor(waiting)) return;
    waiting.hold();
    this.#waiting.add(waiting);
  }

  /** Takes the next bytes. */
  take(piece: Uint8Array): void {
    this.#memory ??= takeMemory(this.length);
    const at = this.start + this.#arrived;
    this.#memory.set(piece, this.#arrived);
    this.#arrived += piece.length;
    for (const waiting of this.#waiting) {
      waiting.take(piece, at);
      if (!this.#hasFor(waiting)) continue;
      this.#waiting.delete(waiting);
      waiting.release();
    }
  }

  /**
   * All has come.
   *
   * @returns The bytes, which are whoever's who calls it.
   */
  land(): Uint8Array<ArrayBuffer> {
    const { bytes } = this;
    this.#memory = undefined;
    return bytes;
  }

  /** It will not come. */
  fail(reason: unknown): void {
    for (const waiting of this.#waiting) waiting.fail(reason);
    giveBack(this.land());
  }

  #hasFor(waiting: Waiting): boolean {
    return this.start + this.#arrived >= Math.min(waiting.end, this.end);
  }
}

const NOTHING = new Uint8Array(0);
