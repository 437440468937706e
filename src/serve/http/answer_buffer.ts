import type { ContentRoom } from "../files/content.ts";

/** Bytes for the head of an answer, before its content. */
const HEAD_ROOM = 1 << 10;
/** Bytes of memory that is kept for answers to come. */
const KEPT = 64 << 20;
const encoder = new TextEncoder();

/** Memory that an answer is put together in, so that it is copied once and sent at once: its content, and its head before. */
export class AnswerBuffer implements ContentRoom {
  #memory = new Uint8Array(8 << 10);
  #start = HEAD_ROOM;
  #end = HEAD_ROOM;

  /** How much memory it has. */
  get size(): number {
    return this.#memory.length;
  }

  ofLength(length: number): Uint8Array<ArrayBuffer> {
    this.#end = HEAD_ROOM + length;
    if (this.#end > this.#memory.length) {
      this.#memory = new Uint8Array(HEAD_ROOM + Math.ceil(length * 1.5));
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
}

/** Buffers of answers that were sent, for those that come: memory that was written to before is at hand. */
export class AnswerBuffers {
  readonly #free: AnswerBuffer[] = [];
  #size = 0;

  take(): AnswerBuffer {
    const buffer = this.#free.pop();
    if (buffer === undefined) return new AnswerBuffer();
    this.#size -= buffer.size;
    return buffer;
  }

  give(buffer: AnswerBuffer): void {
    if (this.#size + buffer.size > KEPT) return;
    this.#size += buffer.size;
    this.#free.push(buffer);
  }
}
