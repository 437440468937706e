import type { ContentRoom } from "../files/content.ts";
import { freeMemory, type ServerMemory } from "./memory.ts";

/** Bytes for the head of an answer, before its content. */
const HEAD_ROOM = 1 << 10;
/** Bytes that each buffer has of its own, which most answers fit into. */
const SMALL = 8 << 10;
/** Buffers that are kept for answers to come. */
const KEPT = 256;
/** Bytes of larger memory that is kept for them. */
const KEPT_LARGE = 8 << 20;
const encoder = new TextEncoder();

/** Memory that an answer is put together in, so that it is copied once and sent at once: its content, and its head before. */
export class AnswerBuffer implements ContentRoom {
  readonly #buffers: AnswerBuffers;
  readonly #small = new Uint8Array(SMALL);
  #memory = this.#small;
  #start = HEAD_ROOM;
  #end = HEAD_ROOM;

  constructor(buffers: AnswerBuffers) {
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

  /** Puts a head of ASCII before the content; tells whether it has room. */
  putHead(head: string): boolean {
    this.#start = HEAD_ROOM - head.length;
    if (this.#start < 0) return false;
    const room = this.#memory.subarray(this.#start, HEAD_ROOM);
    const { written } = encoder.encodeInto(head, room);
    return written === room.length;
  }

  /** The whole answer. */
  get bytes(): Uint8Array<ArrayBuffer> {
    return this.#memory.subarray(this.#start, this.#end);
  }

  /** Gives back what it has beside its own. */
  clear(): void {
    if (this.#memory === this.#small) return;
    this.#buffers.giveLarge(this.#memory);
    this.#memory = this.#small;
  }
}

/** Buffers of answers that were sent, for those that come: memory that was written to before is at hand. */
export class AnswerBuffers {
  readonly #memory: ServerMemory;
  readonly #free: AnswerBuffer[] = [];
  readonly #large: Uint8Array<ArrayBuffer>[] = [];
  #size = 0;
  /** Whether larger memory was asked for since somebody looked. */
  #isUsed = false;

  constructor(memory: ServerMemory) {
    this.#memory = memory;
  }

  take(): AnswerBuffer {
    return this.#free.pop() ?? new AnswerBuffer(this);
  }

  give(buffer: AnswerBuffer): void {
    buffer.clear();
    if (this.#free.length < KEPT) this.#free.push(buffer);
  }

  /** Takes memory of at least so many bytes, unless clients that take nothing have it. */
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

  /** Frees memory that is kept, where none was asked for since the last time. */
  trim(): void {
    if (!this.#isUsed) {
      for (const large of this.#large.splice(0)) freeMemory(large);
      this.#size = 0;
    }
    this.#isUsed = false;
  }
}
