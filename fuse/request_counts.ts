import { OPCODES } from "./wire/opcodes.ts";

/** Slots of the shared memory, 64-bit floating point: requests by opcode, then these. */
const KINDS = 64;
const BYTES = KINDS;
const ERRORS = KINDS + 1;
const SLOTS = KINDS + 8;

/** What the threads that serve a mount have done. */
export interface ServedCounts {
  /** Requests by name, such as `READ`. */
  readonly requests: Readonly<Record<string, number>>;
  /** Bytes of all replies. */
  readonly bytes: number;
  /** Replies that were EIO. */
  readonly errors: number;
}

/**
 * Counts what one thread does; others may look on, and see what is a moment old. Counting costs the thread
 * an addition, since nobody else writes there.
 */
export class RequestCounts {
  /** The memory to hand to other threads. */
  readonly memory: SharedArrayBuffer;
  readonly #slots: Float64Array;

  constructor(
    memory = new SharedArrayBuffer(SLOTS * Float64Array.BYTES_PER_ELEMENT),
  ) {
    this.memory = memory;
    this.#slots = new Float64Array(memory);
  }

  /** A request came. */
  request(opcode: number): void {
    this.#slots[opcode < KINDS ? opcode : 0]!++;
  }

  /** A reply of so many bytes was sent. */
  reply(bytes: number): void {
    this.#slots[BYTES]! += bytes;
  }

  /** A request ended with EIO. */
  error(): void {
    this.#slots[ERRORS]!++;
  }

  /** Adds up what several threads have counted. */
  static sum(all: Iterable<RequestCounts>): ServedCounts {
    const sums = new Float64Array(SLOTS);
    for (const counts of all) {
      for (let i = 0; i < SLOTS; i++) sums[i]! += counts.#slots[i]!;
    }
    const requests: Record<string, number> = {};
    for (let opcode = 0; opcode < KINDS; opcode++) {
      if (sums[opcode] === 0) continue;
      requests[OPCODES[opcode]?.name ?? "OTHER"] = sums[opcode]!;
    }
    return { requests, bytes: sums[BYTES]!, errors: sums[ERRORS]! };
  }
}
