import { checkPosition, wholeNumber } from "../whole_numbers.ts";
import type { Permutation } from "./permutation.ts";
import type { Random } from "./random.ts";

/** A permutation held in a table, shuffled by Fisher and Yates's method, which favours no order. */
export class TablePermutation implements Permutation {
  readonly length: number;
  readonly #indices: Uint16Array;
  /** The position of each number; made when it is first asked for. */
  #positions: Uint16Array | undefined;

  /** @param length From 0 to 65,536. */
  constructor(length: number, random: Random) {
    wholeNumber(length, 0, "The length");
    if (length > 2 ** 16) throw new RangeError("A table of 16 bits is full");
    this.length = length;
    const indices = new Uint16Array(length);
    for (let i = 0; i < length; i++) {
      const other = random.int(i + 1);
      indices[i] = indices[other]!;
      indices[other] = i;
    }
    this.#indices = indices;
  }

  at(position: number): number {
    checkPosition(position, this.length);
    return this.#indices[position]!;
  }

  positionOf(index: number): number {
    checkPosition(index, this.length, "index");
    this.#positions ??= inverse(this.#indices);
    return this.#positions[index]!;
  }
}

function inverse(indices: Uint16Array): Uint16Array {
  const positions = new Uint16Array(indices.length);
  for (let i = 0; i < indices.length; i++) positions[indices[i]!] = i;
  return positions;
}
