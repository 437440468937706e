import type { BatchMemory } from "../batch_memory.ts";
import type { ValueArray } from "../../codecs/image/pixels/write_values.ts";

/** A kind of {@linkcode ValueArray}. */
export interface ValueArrayClass {
  readonly BYTES_PER_ELEMENT: number;
  new (length: number): ValueArray;
  new (buffer: ArrayBuffer, offset: number, length: number): ValueArray;
}

/** Memory for the array of a sample, whatever it holds. */
export type TakeArray = (Values: ValueArrayClass, length: number) => ValueArray;

/** Memory of the array's own. */
export function ownArray(Values: ValueArrayClass, length: number): ValueArray {
  return new Values(length);
}

/** The arrays of a batch's samples, side by side in its memory, so that stacking them copies nothing. */
export class ArrayRows {
  readonly #memory: BatchMemory | undefined;
  readonly #count: number;
  /** The kind and length of all rows, as the first that was made has them. */
  #alike: { Values: ValueArrayClass; length: number } | undefined;
  #rows: Uint8Array<ArrayBuffer> | undefined;

  /**
   * Makes rows of which none is there yet.
   *
   * @param memory That of the batch; without it, arrays have memory of their own.
   * @param count Number of samples.
   */
  constructor(memory: BatchMemory | undefined, count: number) {
    this.#memory = memory;
    this.#count = count;
  }

  /** Gives a sample its row; memory of its own, where it is not like the others. */
  row(i: number): TakeArray {
    return (Values, length) => {
      if (this.#memory === undefined) return ownArray(Values, length);
      this.#alike ??= { Values, length };
      const isAlike = this.#alike.Values === Values &&
        this.#alike.length === length;
      if (!isAlike) return ownArray(Values, length);
      const size = length * Values.BYTES_PER_ELEMENT;
      this.#rows ??= this.#memory.take(this.#count * size);
      const { buffer, byteOffset } = this.#rows;
      return new Values(buffer, byteOffset + i * size, length);
    };
  }
}
