import { IdHash, sameBytes } from "./id_hash.ts";
import { decodeId, encodeId } from "./id_text.ts";

/** The ids of a chunk's videos, numbered from 0: one run of bytes, and a hash table to find one. */
export class VideoIds {
  /** The ids, one after the other. */
  bytes = new Uint8Array(1024);
  /** Per video, and once more: where its id starts in `bytes`. */
  starts = new Uint32Array(64);
  length = 0;
  readonly #hash = new IdHash((video, bytes, start, end) => {
    const [from, to] = [this.starts[video]!, this.starts[video + 1]!];
    return sameBytes(this.bytes, from, to, bytes, start, end);
  });

  /** The video whose id is `bytes[start … end]`, or -1. */
  findBytes(bytes: Uint8Array, start: number, end: number): number {
    return this.#hash.find(bytes, start, end);
  }

  /** The video of an id, or -1. */
  find(id: string): number {
    const bytes = encodeId(id);
    return this.#hash.find(bytes, 0, bytes.length);
  }

  /** The id of a video. */
  id(video: number): string {
    return decodeId(this.bytes, this.starts[video]!, this.starts[video + 1]!);
  }

  /** Adds a video whose id is not there yet, and returns its number. */
  add(bytes: Uint8Array, start: number, end: number): number {
    const video = this.length++;
    const at = this.starts[video]!;
    const past = at + end - start;
    if (video + 2 > this.starts.length) {
      const larger = new Uint32Array(this.starts.length * 2);
      larger.set(this.starts);
      this.starts = larger;
    }
    if (past > this.bytes.length) {
      const larger = new Uint8Array(Math.max(past, this.bytes.length * 2));
      larger.set(this.bytes);
      this.bytes = larger;
    }
    for (let i = start; i < end; i++) this.bytes[at + i - start] = bytes[i]!;
    this.starts[video + 1] = past;
    this.#hash.add(bytes, start, end, video);
    return video;
  }

  /** Lets go of memory that was made ready for more ids. */
  trim(): void {
    this.starts = this.starts.slice(0, this.length + 1);
    this.bytes = this.bytes.slice(0, this.starts[this.length]!);
  }
}
