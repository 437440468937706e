/** The labels of a dataset, in the order of its indices, as numbers of four bytes each. */
export class LabelColumn {
  /** The labels, in the order in which they were met. */
  readonly names: string[] = [];
  /** Number of samples with each. */
  readonly counts: number[] = [];
  readonly #numbers = new Map<string | number, number>();
  readonly #column: Uint32Array;
  #length = 0;

  /** @param length How many samples the dataset has. */
  constructor(length: number) {
    this.#column = new Uint32Array(length);
  }

  /** Number of samples that have been given their labels. */
  get length(): number {
    return this.#length;
  }

  /**
   * Adds the label of the next sample.
   *
   * @param key What tells it from others, where that is not the label itself.
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

  /** The number of a sample's label among {@linkcode LabelColumn.names}. */
  at(index: number): number {
    return this.#column[index]!;
  }
}
