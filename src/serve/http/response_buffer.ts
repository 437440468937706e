import type { ContentRoom } from "../files/content.ts";
import { freeMemory, type ServerMemory } from "./memory.ts";

/** Bytes reserved for the head, in front of the content. */
const HEAD_ROOM = 1 << 10;
/** Bytes of each buffer's own memory, enough for most responses. */
const SMALL = 8 << 10;
/** Maximum number of free buffers cached. */
const KEPT = 256;
/** Maximum bytes of larger memory cached. */
const KEPT_LARGE = 8 << 20;
const encoder = new TextEncoder();

/** Buffer for a response, head and content contiguous, so that it is copied and sent once. */
export class ResponseBuffer implements ContentRoom {
  readonly #buffers: ResponseBuffers;
  readonly #small = new Uint8Array(SMALL);
  #memory = this.#small;
  #start = HEAD_ROOM;
  #end = HEAD_ROOM;

  constructor(buffers: ResponseBuffers) {
    this.#buffers = buffers;
  }

  ofLength(length: number): Uint8Array<ArrayBuffer> | undefined {
    this.#end = HEAD_ROOM + length;
    if (this.#end > this.#memory.length) {
      this.clear();
      const large = this.#buffers.takeLarge(this.#end);
      if (large === undefined) return undefined;
      this.#memory = large;
    }
    return this.#memory.subarray(HEAD_ROOM, this.#end);
  }

  /** Writes an ASCII head in front of the content. Returns whether it fits. */
  putHead(head: string): boolean {
    this.#start = HEAD_ROOM - head.length;
    if (this.#start < 0) return false;
    const room = this.#memory.subarray(this.#start, HEAD_ROOM);
    const { written } = encoder.encodeInto(head, room);
    return written === room.length;
  }

  get bytes(): Uint8Array<ArrayBuffer> {
    return this.#memory.subarray(this.#start, this.#end);
  }

  /** Returns large memory to the pool. */
  clear(): void {
    if (this.#memory === this.#small) return;
    this.#buffers.giveLarge(this.#memory);
    this.#memory = this.#small;
  }
}

/** Pool of response buffers: memory that was written before needs no page faults. */
export class ResponseBuffers {
  readonly #memory: ServerMemory;
  readonly #free: ResponseBuffer[] = [];
  readonly #large: Uint8Array<ArrayBuffer>[] = [];
  #size = 0;
  /** Whether large memory was requested since the last {@linkcode ResponseBuffers.trim}. */
  #isUsed = false;

  constructor(memory: ServerMemory) {
    this.#memory = memory;
  }

  take(): ResponseBuffer {
    return this.#free.pop() ?? new ResponseBuffer(this);
  }

  give(buffer: ResponseBuffer): void {
    buffer.clear();
    if (this.#free.length < KEPT) this.#free.push(buffer);
  }

  /** Takes at least so many bytes, unless stalled clients have used up the budget. */
  takeLarge(length: number): Uint8Array<ArrayBuffer> | undefined {
    this.#isUsed = true;
    let large = this.#large.pop();
    if (large !== undefined) {
      this.#size -= large.length;
      if (large.length < length) {
        freeMemory(large);
        large = undefined;
      }
    }
    const size = large?.length ?? Math.ceil(length * 1.5);
    if (!this.#memory.takeAnswer(size)) {
      if (large !== undefined) freeMemory(large);
      return undefined;
    }
    return large ?? new Uint8Array(size);
  }

  giveLarge(large: Uint8Array<ArrayBuffer>): void {
    this.#memory.answers.give(large.length);
    if (this.#size + large.length > KEPT_LARGE) return freeMemory(large);
    this.#size += large.length;
    this.#large.push(large);
  }

  /** Frees cached memory if none was requested since the last call. */
  trim(): void {
    if (!this.#isUsed) {
      for (const large of this.#large.splice(0)) freeMemory(large);
      this.#size = 0;
    }
    this.#isUsed = false;
  }
}
