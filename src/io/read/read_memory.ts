import { newSharedMemory } from "../libc/new_memory.ts";
import type { RunLimits } from "./slice_runs.ts";
import type { WaitOptions } from "../storage/byte_source.ts";

/**
 * Memory that is read into again and again: what a loop over much need not have cleared, and
 * collected, for each read. It grows as it must.
 *
 * What was read into it (records, frames), and values that are views of it, are valid until it is read into again. Reads
 * that are under way at the same time need one each.
 *
 * @example Read many datapoints
 * ```ts
 * import { DatasetReader, RecordMemory } from "@recordfs/recordfs/bags";
 *
 * using reader = await DatasetReader.open("test/golden/granular3/types/data", { decoders: null });
 * const memory = new RecordMemory();
 * let bytes = 0;
 * for (let i = 0; i < reader.length; i++) {
 *   const { img } = reader.getSync(i, ["img"], { memory });
 *   bytes += (img as Uint8Array).length; // or hand it on: copied by slice()
 * }
 * console.log(bytes);
 * ```
 *
 * @example Read many videos
 * ```ts
 * import { FrameMemory, GulpDirectory } from "@recordfs/recordfs/gulp";
 *
 * using directory = await GulpDirectory.open("test/golden/gulp/v2_chunks/gulp", { decode: false });
 * const memory = new FrameMemory();
 * let bytes = 0;
 * for (const id of directory.mergedMetaDict.keys()) {
 *   const { frames } = await directory.getRaw(id, undefined, { memory });
 *   for (const jpeg of frames) bytes += jpeg.length; // or hand them on: copied by slice()
 * }
 * console.log(bytes);
 * ```
 */
export class GrowingMemory {
  #bytes = new Uint8Array(0);
  #taken = 0;

  /** Its size in bytes. */
  get size(): number {
    return this.#bytes.byteLength;
  }

  /**
   * Its first bytes, whatever they hold: what was taken before is free to be read into.
   *
   * @param length How many.
   */
  take(length: number): Uint8Array<ArrayBuffer> {
    this.#taken = 0;
    return this.takeMore(length);
  }

  /**
   * The bytes behind those taken last, from the next multiple of 8 on, so that any number may lie
   * there.
   *
   * @param length How many.
   */
  takeMore(length: number): Uint8Array<ArrayBuffer> {
    const start = aligned(this.#taken);
    const end = start + length;
    // Its buffer may have been transferred to another thread.
    if (end > this.#bytes.byteLength || this.#bytes.buffer.detached) {
      this.#bytes = new Uint8Array(Math.ceil(end * 1.25));
    }
    this.#taken = end;
    return this.#bytes.subarray(start, end);
  }
}

/** Memory for all bytes of a batch. */
export interface BatchRoom {
  /**
   * So many bytes, whatever they hold.
   *
   * @param length How many.
   */
  take(length: number): Uint8Array<ArrayBuffer>;
}

/**
 * Memory that is read into again and again, and shared with other threads. It grows as it must. Pieces lie anywhere in it:
 * what is read with its neighbours stays where it was read to, since V8 copies to shared memory word by word.
 */
export class SharedRoom implements BatchRoom {
  #memory = new SharedArrayBuffer(0);

  take(length: number): Uint8Array<ArrayBuffer> {
    if (length > this.#memory.byteLength) {
      this.#memory = newSharedMemory(Math.ceil(length * 1.25));
    }
    const bytes = new Uint8Array(this.#memory, 0, length);
    return bytes as Uint8Array as Uint8Array<ArrayBuffer>; // nobody here asks for more than bytes
  }
}

/** Memory of a batch whose pieces stay where they are read to with their neighbours. */
export class RunRoom implements BatchRoom {
  /** What is read together. */
  readonly limits: RunLimits;
  readonly #memory: BatchRoom | undefined;

  /** @param memory What to read into; memory of its own, unless given. */
  constructor(limits: RunLimits, memory?: BatchRoom) {
    this.limits = limits;
    this.#memory = memory;
  }

  take(length: number): Uint8Array<ArrayBuffer> {
    return this.#memory?.take(length) ?? new Uint8Array(length);
  }
}

/**
 * Takes memory for pieces one behind the other, each at a multiple of 8 from the start, so that any
 * number may lie there, and pieces of equal lengths that are such multiples have nothing in between.
 *
 * @returns The place of each piece.
 * @throws {TypeError} If there is not as much memory as was asked for.
 */
export function placesIn(
  memory: BatchRoom,
  pieces: readonly { readonly length: number }[],
): Uint8Array<ArrayBuffer>[] {
  let total = 0;
  for (const { length } of pieces) total = aligned(total) + length;
  const room = memory.take(total);
  if (!(room instanceof Uint8Array) || room.length !== total) {
    throw new TypeError(
      `The memory to read into gave ${room?.length} bytes, not the ${total} that it was asked for`,
    );
  }
  let start = 0;
  return pieces.map(({ length }) => {
    const place = room.subarray(start, start + length);
    start = aligned(start + length);
    return place;
  });
}

/** The next multiple of 8, where any number may lie. */
export function aligned(length: number): number {
  return Math.ceil(length / 8) * 8;
}

/** Options of reading a batch without waiting. */
export interface BatchReadSyncOptions {
  /**
   * What to read into: whatever has a method `take(length)` that gives so many bytes. It is called once,
   * for all bytes of the batch, each piece of which is then a view of what it gave, in the order of the
   * batch, at a multiple of 8 bytes from its start. Unless given, each piece has memory of its own, which
   * has to be cleared first: that costs as much as reading into it.
   */
  readonly memory?: BatchRoom | undefined;
}

/** Options of reading a batch. */
export interface BatchReadOptions extends BatchReadSyncOptions, WaitOptions {}
