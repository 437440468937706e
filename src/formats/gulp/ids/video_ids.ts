import { grown } from "../../../codecs/byte_output.ts";
import { sharedBytes, sharedUint32 } from "../../../tree/shared_numbers.ts";
import { decodeId, encodeId } from "./id_text.ts";

/** Whether the id of a row is `bytes[start … end]`. */
type SameId = (
  row: number,
  bytes: Uint8Array,
  start: number,
  end: number,
) => boolean;

/** Random for each process, so that no file can be made whose ids all collide. */
const SEED = crypto.getRandomValues(new Int32Array(1))[0]!;

/** Open-addressing hash table of row numbers by id, in two typed arrays. The ids are stored elsewhere. */
export class IdHash {
  readonly #same: SameId;
  #hashes: Int32Array;
  /** Row + 1, or 0 in a free slot. */
  #rows: Uint32Array;
  #count = 0;

  constructor(same: SameId) {
    this.#same = same;
    this.#hashes = new Int32Array(64);
    this.#rows = new Uint32Array(64);
  }

  /** Returns the row whose id is `bytes[start … end]`, or -1. */
  find(bytes: Uint8Array, start: number, end: number): number {
    const hash = hashOf(bytes, start, end);
    const mask = this.#rows.length - 1;
    for (let slot = hash & mask;; slot = slot + 1 & mask) {
      const row = this.#rows[slot]! - 1;
      if (row < 0) return -1;
      if (this.#hashes[slot] !== hash) continue;
      if (this.#same(row, bytes, start, end)) return row;
    }
  }

  /** Adds the row of a new id. */
  add(bytes: Uint8Array, start: number, end: number, row: number): void {
    if (++this.#count * 2 > this.#rows.length) this.#grow();
    this.#put(hashOf(bytes, start, end), row + 1);
  }

  #put(hash: number, entry: number): void {
    const mask = this.#rows.length - 1;
    let slot = hash & mask;
    while (this.#rows[slot] !== 0) slot = slot + 1 & mask;
    this.#hashes[slot] = hash;
    this.#rows[slot] = entry;
  }

  #grow(): void {
    const hashes = this.#hashes;
    const rows = this.#rows;
    this.#hashes = new Int32Array(rows.length * 2);
    this.#rows = new Uint32Array(rows.length * 2);
    for (let slot = 0; slot < rows.length; slot++) {
      const entry = rows[slot]!;
      if (entry > 0) this.#put(hashes[slot]!, entry);
    }
  }
}

/** MurmurHash2's steps, one byte at a time. */
function hashOf(bytes: Uint8Array, start: number, end: number): number {
  let hash = SEED;
  for (let i = start; i < end; i++) {
    hash = Math.imul(hash ^ bytes[i]!, 0x5bd1e995);
    hash ^= hash >>> 15;
  }
  hash = Math.imul(hash ^ hash >>> 13, 0x5bd1e995);
  return hash ^ hash >>> 15;
}

/** Ids of videos, numbered from 0. Plain data. */
export interface IdColumns {
  /** Concatenated ids. */
  readonly bytes: Uint8Array;
  /** Start of each video's id in `bytes`, and the end of the last. */
  readonly starts: Uint32Array;
}

/** Ids of a chunk's videos: concatenated bytes, and a hash table for lookups. */
export class VideoIds implements IdColumns {
  bytes: Uint8Array = new Uint8Array(1024);
  starts: Uint32Array = new Uint32Array(64);
  length = 0;
  #hash: IdHash | undefined;

  /** Wraps ids that another thread has trimmed. */
  static of({ bytes, starts }: IdColumns): VideoIds {
    const ids = new VideoIds();
    ids.bytes = bytes;
    ids.starts = starts;
    ids.length = starts.length - 1;
    return ids;
  }

  isId(
    video: number,
    bytes: Uint8Array,
    start: number,
    end: number,
  ): boolean {
    const from = this.starts[video]!;
    if (this.starts[video + 1]! - from !== end - start) return false;
    for (let i = start; i < end; i++) {
      if (this.bytes[from + i - start] !== bytes[i]) return false;
    }
    return true;
  }

  /** Returns the video whose id is `bytes[start … end]`, or -1. */
  findBytes(bytes: Uint8Array, start: number, end: number): number {
    return this.#hashed().find(bytes, start, end);
  }

  /** Returns the video with an id, or -1. */
  find(id: string): number {
    const bytes = encodeId(id);
    return this.findBytes(bytes, 0, bytes.length);
  }

  id(video: number): string {
    return decodeId(this.bytes, this.starts[video]!, this.starts[video + 1]!);
  }

  /** Adds a video with a new id, and returns its number. */
  add(bytes: Uint8Array, start: number, end: number): number {
    const hash = this.#hashed();
    const video = this.length++;
    const at = this.starts[video]!;
    const past = at + end - start;
    if (video + 2 > this.starts.length) {
      this.starts = grown(this.starts, new Uint32Array(2 * video + 2));
    }
    if (past > this.bytes.length) {
      const size = Math.max(past, this.bytes.length * 2);
      this.bytes = grown(this.bytes, new Uint8Array(size));
    }
    for (let i = start; i < end; i++) this.bytes[at + i - start] = bytes[i]!;
    this.starts[video + 1] = past;
    hash.add(bytes, start, end, video);
    return video;
  }

  /** Returns the video with the same id as one of another chunk, or -1. */
  findIdOf({ bytes, starts }: VideoIds, video: number): number {
    return this.findBytes(bytes, starts[video]!, starts[video + 1]!);
  }

  addIdOf({ bytes, starts }: VideoIds, video: number): void {
    this.add(bytes, starts[video]!, starts[video + 1]!);
  }

  /** Moves the ids to shared memory of exactly their size. */
  trim(): void {
    this.bytes = sharedBytes(this.bytes.subarray(0, this.starts[this.length]!));
    this.starts = sharedUint32(this.starts.subarray(0, this.length + 1));
  }

  #hashed(): IdHash {
    if (this.#hash !== undefined) return this.#hash;
    const hash = new IdHash((video, bytes, start, end) =>
      this.isId(video, bytes, start, end)
    );
    for (let video = 0; video < this.length; video++) {
      const [start, end] = [this.starts[video]!, this.starts[video + 1]!];
      hash.add(this.bytes, start, end, video);
    }
    return this.#hash = hash;
  }
}
