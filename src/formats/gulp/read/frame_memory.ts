import { GrowingMemory } from "../../../io/read/read_memory.ts";

/**
 * Memory that videos are read into one after the other: what a loop over many videos need not have
 * cleared, and collected, for each. It grows as it must.
 *
 * Frames that were read into it are valid until it is read into again. Reads that are under way at the
 * same time need one each.
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
export class FrameMemory {
  readonly #memory = new GrowingMemory();

  /** How many bytes it has. */
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
}

/** Options of reading frames as they are stored. */
export interface RawReadOptions {
  /** What to read into; memory of their own where not given. */
  readonly memory?: FrameMemory | undefined;
}
