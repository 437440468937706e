import type { ArrayValues } from "./arrays.ts";
import type { DictionaryValues, ReadArray } from "./read_array.ts";
import type { ArrowField } from "./schema.ts";

/** Values of a dictionary in one or several arrays, each of which adds to those before. */
export class JoinedDictionary implements DictionaryValues {
  readonly length: number;
  readonly bytes: number;
  readonly #arrays: readonly ReadArray[];
  /** Per array: index after its last value. */
  readonly #ends: readonly number[];
  readonly #isVariable: boolean;

  /** @param of Field that is stored by the dictionary's indices. */
  constructor(arrays: readonly ReadArray[], of: ArrowField) {
    this.#arrays = arrays;
    let length = 0;
    this.#ends = arrays.map(({ values }) => length += values.length);
    this.length = length;
    this.bytes = arrays.reduce((sum, { bytes }) => sum + bytes, 0);
    this.#isVariable = of.stored.is === "variable";
  }

  at(index: number): unknown {
    const [{ values }, within] = this.#placeOf(index);
    return values.at(within);
  }

  sizeOf(index: number): number {
    const [{ values, bytes }, within] = this.#placeOf(index);
    if (!this.#isVariable) return bytes;
    const { offsets } = values as ArrayValues & { offsets: Int32Array };
    return offsets[within + 1]! - offsets[within]!;
  }

  #placeOf(index: number): readonly [ReadArray, number] {
    let [low, high] = [0, this.#ends.length - 1];
    while (low < high) {
      const middle = low + high >>> 1;
      if (this.#ends[middle]! <= index) low = middle + 1;
      else high = middle;
    }
    return [this.#arrays[low]!, index - (this.#ends[low - 1] ?? 0)];
  }
}
