import { newSharedMemory } from "../libc/new_memory.ts";
import type { RunLimits } from "./slice_runs.ts";
import type { WaitOptions } from "../storage/byte_source.ts";

/**
 * Reusable memory to read into, so that a loop over many reads need not clear and collect new memory for each. It grows
 * as needed.
 *
 * What was read into it (records, frames), and values that are views of it, are valid until it is read into again.
 * Concurrent reads need one each.
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

  /** Size in bytes. */
  get size(): number {
    return this.#bytes.byteLength;
  }

  /**
   * Returns its first bytes, uncleared. Bytes taken before may be overwritten.
   *
   * @param length Number of bytes.
   */
  take(length: number): Uint8Array<ArrayBuffer> {
    this.#taken = 0;
    return this.takeMore(length);
  }

  /**
   * Returns uncleared bytes after those taken last, aligned to 8 so that any number type may lie there.
   *
   * @param length Number of bytes.
   */
  takeMore(length: number): Uint8Array<ArrayBuffer> {
    const start = aligned(this.#taken);
    const end = start + length;
    // The buffer may have been transferred to another thread.
    if (end > this.#bytes.byteLength || this.#bytes.buffer.detached) {
      this.#bytes = new Uint8Array(Math.ceil(end * 1.25));
    }
    this.#taken = end;
    return this.#bytes.subarray(start, end);
  }
}

/**
 * Reusable memory that other threads can share. It grows as needed. Pieces may lie anywhere in it: they stay where they
 * were read together with their neighbours, because V8 copies to shared memory word by word.
 */
export class SharedRoom implements BatchRoom {
  #memory = new SharedArrayBuffer(0);

  take(length: number): Uint8Array<ArrayBuffer> {
    if (length > this.#memory.byteLength) {
      this.#memory = newSharedMemory(Math.ceil(length * 1.25));
    }
    const bytes = new Uint8Array(this.#memory, 0, length);
    return bytes as Uint8Array as Uint8Array<ArrayBuffer>; // callers here use it as plain bytes only
  }
}

/** Memory of a batch whose pieces stay where they were read together with their neighbours. */
export class RunRoom implements BatchRoom {
  readonly limits: RunLimits;
  readonly #memory: BatchRoom | undefined;

  constructor(limits: RunLimits, memory?: BatchRoom) {
    this.limits = limits;
    this.#memory = memory;
  }

  take(length: number): Uint8Array<ArrayBuffer> {
    return this.#memory?.take(length) ?? new Uint8Array(length);
  }
}

/**
 * Allocates pieces one after another, each aligned to 8 bytes so that any number type may lie there. Pieces of equal
 * lengths that are multiples of 8 have no gaps.
 *
 * @returns The memory of each piece.
 * @throws {TypeError} If `memory` returned another length than requested.
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

/** Rounds up to a multiple of 8. */
export function aligned(length: number): number {
  return Math.ceil(length / 8) * 8;
}

/** Options of reading a batch. */
export interface BatchReadOptions extends WaitOptions {
  /**
   * Memory to read into. By default each piece gets its own memory, which must be cleared first; that costs as much as
   * reading into it.
   */
  readonly memory?: {
    /**
     * Returns uncleared bytes. Called once, for all bytes of the batch. Each piece is then a view of them, in batch
     * order, at a multiple of 8 bytes from the start.
     *
     * @param length Number of bytes.
     */
    take(length: number): Uint8Array<ArrayBuffer>;
  } | undefined;
}

/** Memory for all bytes of a batch. */
export type BatchRoom = NonNullable<BatchReadOptions["memory"]>;
