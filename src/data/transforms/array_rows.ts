import type { BatchMemory } from "../batch_memory.ts";
import type { ValueArray } from "../../codecs/image/pixels/write_values.ts";

export interface ValueArrayClass {
  readonly BYTES_PER_ELEMENT: number;
  new (length: number): ValueArray;
  new (buffer: ArrayBuffer, offset: number, length: number): ValueArray;
}

/** Allocates the array of a sample; its content is arbitrary. */
export type TakeArray = (Values: ValueArrayClass, length: number) => ValueArray;

export function ownArray(Values: ValueArrayClass, length: number): ValueArray {
  return new Values(length);
}

/** Arrays of a batch's samples, contiguous in its memory, so that stacking them copies nothing. */
export class ArrayRows {
  readonly #memory: BatchMemory | undefined;
  readonly #count: number;
  /** Class and length of all rows, set by the first row. */
  #alike: { Values: ValueArrayClass; length: number } | undefined;
  #rows: Uint8Array<ArrayBuffer> | undefined;

  /** @param memory Memory of the batch. Without it, arrays have their own. */
  constructor(memory: BatchMemory | undefined, count: number) {
    this.#memory = memory;
    this.#count = count;
  }

  /** Returns the allocator for a sample's row. An array unlike the others gets its own memory. */
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
