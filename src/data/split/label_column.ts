/** Labels of a dataset's samples, in the order of indices, as numbers of four bytes each. */
export class LabelColumn {
  /** Distinct labels, in the order of their first occurrence. */
  readonly names: string[] = [];
  /** Number of samples with each label. */
  readonly counts: number[] = [];
  readonly #numbers = new Map<string | number, number>();
  readonly #column: Uint32Array;
  #length = 0;

  /** @param length Number of samples in the dataset. */
  constructor(length: number) {
    this.#column = new Uint32Array(length);
  }

  /** Number of samples added so far. */
  get length(): number {
    return this.#length;
  }

  /**
   * Adds the label of the next sample.
   *
   * @param key Identity of the label, if not the label itself.
   */
  add(label: string, key: string | number = label): void {
    let number = this.#numbers.get(key);
    if (number === undefined) {
      number = this.names.push(label) - 1;
      this.counts.push(0);
      this.#numbers.set(key, number);
    }
    this.counts[number]!++;
    this.#column[this.#length++] = number;
  }

  /** Returns the index of a sample's label in {@linkcode LabelColumn.names}. */
  at(index: number): number {
    return this.#column[index]!;
  }
}
