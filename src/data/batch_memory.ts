import { RecordfsError } from "../base/errors.ts";
import { newMemory, newSharedMemory } from "../io/libc/new_memory.ts";
import { aligned } from "../io/read/read_memory.ts";

/**
 * Factor by which buffers are larger than what is asked for, since the next batch may need a bit more. Little, since
 * it has to be cleared as well where buffers never come back; one that is too small makes way for a larger one.
 */
const SLACK = 1.0625;

/**
 * Buffers that are free to be read into. Memory that is used again need not be cleared, which costs as
 * much as reading into it.
 */
export class BufferPool {
  readonly #most: number;
  readonly #isShared: boolean;
  /** The smallest first. */
  readonly #free: ArrayBufferLike[] = [];

  /**
   * Makes an empty pool.
   *
   * @param most How many free buffers are kept; more are left to be collected.
   * @param isShared Whether its buffers are to be shared memory, which several threads can see.
   */
  constructor(most = 4, isShared = false) {
    this.#most = most;
    this.#isShared = isShared;
  }

  /** Bytes of the buffers that are free. */
  get size(): number {
    return sizeOfAll(this.#free);
  }

  /**
   * A buffer, whatever it holds: the smallest that is large enough, or a new one.
   *
   * @param least How many bytes it must have.
   * @throws {RecordfsError} With code `too-large` if there is no such memory.
   */
  take(least: number): ArrayBufferLike {
    const found = this.#free.findIndex(({ byteLength }) => byteLength >= least);
    if (found >= 0) return this.#free.splice(found, 1)[0]!;
    this.#free.shift(); // one that is too small makes way
    const length = aligned(least * SLACK);
    try {
      return this.#isShared ? newSharedMemory(length) : newMemory(length);
    } catch (cause) {
      throw new RecordfsError(
        "too-large",
        `There is no memory for a batch of ${least} bytes: make the batches smaller`,
        { actual: least, cause },
      );
    }
  }

  /**
   * Takes a buffer back: what was read into it may be overwritten from now on. One that has been
   * transferred to another thread is passed over.
   */
  give(buffer: ArrayBufferLike): void {
    if (isDetached(buffer) || this.#free.includes(buffer)) return;
    const { byteLength } = buffer;
    const place = this.#free.findIndex((free) => free.byteLength > byteLength);
    this.#free.splice(place < 0 ? this.#free.length : place, 0, buffer);
    if (this.#free.length > this.#most) this.#free.shift();
  }
}

/** Bytes of buffers together. */
export function sizeOfAll(buffers: readonly ArrayBufferLike[]): number {
  return buffers.reduce((sum, { byteLength }) => sum + byteLength, 0);
}

/** True of a buffer that has been transferred to another thread, which shared memory never is. */
export function isDetached(buffer: ArrayBufferLike): boolean {
  return buffer instanceof ArrayBuffer && buffer.detached;
}

/**
 * Has views of a buffer be empty from now on, so that nobody sees a later batch in them. Those of shared memory
 * cannot be.
 *
 * @returns Its memory.
 */
export function withoutViews(buffer: ArrayBufferLike): ArrayBufferLike {
  return buffer instanceof ArrayBuffer ? buffer.transfer() : buffer;
}

/**
 * The memory of one batch: its samples are views of one buffer, or of a few, which pass to another
 * thread without being copied, and can then be used for a later batch.
 *
 * @example Read batches into the same memory
 * ```ts
 * import { BatchMemory, BufferPool, FFRecordDataset } from "@recordfs/recordfs/data";
 * import assert from "node:assert/strict";
 *
 * using dataset = await FFRecordDataset.open("test/golden/ffrecord/plain_many/sample_92.ffr");
 * const pool = new BufferPool();
 * let bytes = 0;
 * for (let first = 0; first + 8 <= dataset.length; first += 8) {
 *   const memory = new BatchMemory(pool);
 *   const indices = Array.from({ length: 8 }, (_, i) => first + i);
 *   for (const sample of await dataset.get(indices, { memory })) bytes += sample.length;
 *   memory.free(); // the samples are not looked at any more
 * }
 * assert.ok(bytes > 0);
 * ```
 */
export class BatchMemory {
  readonly #pool: BufferPool;
  readonly #buffers: ArrayBufferLike[] = [];
  /** Bytes taken of the last buffer. */
  #taken = 0;

  /**
   * Makes memory of which nothing is taken yet.
   *
   * @param pool Where buffers come from; unless given, they are new.
   */
  constructor(pool = new BufferPool(0)) {
    this.#pool = pool;
  }

  /**
   * Memory for a piece of the batch, whatever it holds: behind what was taken before where there is room,
   * and otherwise in a further buffer. It starts at a multiple of 8, so that any number may lie there. The type
   * says `ArrayBuffer` also where it is shared, since what reads into it makes no difference.
   *
   * @param length In bytes.
   * @throws {RecordfsError} With code `too-large` if there is no such memory.
   */
  take(length: number): Uint8Array<ArrayBuffer> {
    const start = aligned(this.#taken);
    const last = this.#buffers.at(-1);
    if (last !== undefined && start + length <= last.byteLength) {
      this.#taken = start + length;
      return new Uint8Array(last as ArrayBuffer, start, length);
    }
    const buffer = this.#pool.take(length);
    this.#buffers.push(buffer);
    this.#taken = length;
    return new Uint8Array(buffer as ArrayBuffer, 0, length);
  }

  /** The buffers that the batch lies in: what to transfer along with it. */
  get buffers(): readonly ArrayBufferLike[] {
    return this.#buffers;
  }

  /** Gives all buffers back to the pool, when nobody looks at the batch any more. */
  free(): void {
    for (const buffer of this.#buffers.splice(0)) this.#pool.give(buffer);
    this.#taken = 0;
  }
}
