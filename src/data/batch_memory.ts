import { RecordfsError } from "../base/errors.ts";
import { newMemory, newSharedMemory } from "../io/libc/new_memory.ts";
import { aligned } from "../io/read/read_memory.ts";

/**
 * Factor by which a buffer exceeds the requested size, since the next batch may need a bit more. Small, since the
 * extra must be cleared too where buffers never come back; a buffer that is too small is replaced.
 */
const SLACK = 1.0625;

/** Pool of reusable buffers. Reused memory need not be cleared, which costs as much as reading into it. */
export class BufferPool {
  readonly #most: number;
  readonly #isShared: boolean;
  /** Free buffers, smallest first. */
  readonly #free: ArrayBufferLike[] = [];

  /**
   * Makes an empty pool.
   *
   * @param most Maximum number of free buffers; the smallest beyond that is left to the garbage collector.
   * @param isShared Whether buffers are shared memory, visible to several threads.
   */
  constructor(most = 4, isShared = false) {
    this.#most = most;
    this.#isShared = isShared;
  }

  /** Total size of the free buffers, in bytes. */
  get size(): number {
    return sizeOfAll(this.#free);
  }

  /**
   * Takes the smallest free buffer that is large enough, or makes one. Its content is arbitrary.
   *
   * @param least Minimum size in bytes.
   * @throws {RecordfsError} With code `too-large` if the memory cannot be allocated.
   */
  take(least: number): ArrayBufferLike {
    const found = this.#free.findIndex(({ byteLength }) => byteLength >= least);
    if (found >= 0) return this.#free.splice(found, 1)[0]!;
    this.#free.shift(); // evict one that is too small
    const length = aligned(least * SLACK);
    try {
      return this.#isShared ? newSharedMemory(length) : newMemory(length);
    } catch (cause) {
      throw new RecordfsError(
        "too-large",
        `Cannot allocate ${least} bytes for a batch: out of memory. Make ` +
          "the batches smaller",
        { actual: least, cause },
      );
    }
  }

  /**
   * Returns a buffer to the pool, which may overwrite its content from now on. Buffers that were transferred to
   * another thread are ignored.
   */
  give(buffer: ArrayBufferLike): void {
    if (isDetached(buffer) || this.#free.includes(buffer)) return;
    const { byteLength } = buffer;
    const place = this.#free.findIndex((free) => free.byteLength > byteLength);
    this.#free.splice(place < 0 ? this.#free.length : place, 0, buffer);
    if (this.#free.length > this.#most) this.#free.shift();
  }
}

export function sizeOfAll(buffers: readonly ArrayBufferLike[]): number {
  return buffers.reduce((sum, { byteLength }) => sum + byteLength, 0);
}

/** Whether a buffer has been transferred to another thread, which shared memory never is. */
export function isDetached(buffer: ArrayBufferLike): boolean {
  return buffer instanceof ArrayBuffer && buffer.detached;
}

/**
 * Detaches all views of a buffer, so that they are empty and never show a later batch. Views of shared memory
 * cannot be detached.
 *
 * @returns The buffer's memory.
 */
export function withoutViews(buffer: ArrayBufferLike): ArrayBufferLike {
  return buffer instanceof ArrayBuffer ? buffer.transfer() : buffer;
}

/**
 * Memory of one batch. Samples are views of one or a few buffers, which can be transferred to another thread
 * without a copy and reused for a later batch.
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
  /** Bytes used in the last buffer. */
  #taken = 0;

  /**
   * Makes memory with nothing allocated.
   *
   * @param pool Pool that buffers come from. By default buffers are new.
   */
  constructor(pool = new BufferPool(0)) {
    this.#pool = pool;
  }

  /**
   * Allocates memory for a piece of the batch, after the previous piece if there is room, otherwise in another
   * buffer. Its content is arbitrary. It starts at a multiple of 8, so that numbers of any type may be stored
   * there. The type says `ArrayBuffer` even for shared memory, since readers treat both alike.
   *
   * @param length Size in bytes.
   * @throws {RecordfsError} With code `too-large` if the memory cannot be allocated.
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

  /** Buffers that contain the batch, to be transferred along with it. */
  get buffers(): readonly ArrayBufferLike[] {
    return this.#buffers;
  }

  /** Returns all buffers to the pool. The batch must not be used any more. */
  free(): void {
    for (const buffer of this.#buffers.splice(0)) this.#pool.give(buffer);
    this.#taken = 0;
  }
}
