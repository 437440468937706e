import { RecordfsError } from "../../../errors.ts";
import type { WaitOptions } from "../../../io/storage/byte_source.ts";
import { GrowingMemory } from "../../../io/read/read_memory.ts";

/**
 * Memory that records are read into, datapoint after datapoint: what a loop over many need not have
 * cleared, and collected, for each. It grows as it must.
 *
 * What was read into it, and values that are views of it, are valid until it is read into again. Reads
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
 */
export class RecordMemory {
  readonly #memory = new GrowingMemory();

  /** Its size in bytes. */
  get size(): number {
    return this.#memory.size;
  }

  /**
   * Its first bytes, whatever they hold.
   *
   * @param length How many.
   */
  take(length: number): Uint8Array<ArrayBuffer> {
    return this.#memory.take(length);
  }

  /**
   * The bytes behind those taken last, from a multiple of 8 on, so that any number may lie there.
   *
   * @param length How many.
   */
  takeMore(length: number): Uint8Array<ArrayBuffer> {
    return this.#memory.takeMore(length);
  }
}

/** Options of reading without waiting. */
export interface ReadSyncOptions {
  /** The memory to read into; memory of their own where not given. */
  readonly memory?: RecordMemory | undefined;
}

/** Options of reading. */
export interface ReadOptions extends ReadSyncOptions, WaitOptions {}

/** @throws {RecordfsError} If a reader has been closed. */
export function requireOpen(path: string, closed: boolean): void {
  if (!closed) return;
  throw new RecordfsError("closed", `${path} has been closed`, { path });
}
