/** Row heights: measured ones, and their mean for the others. */

/** Maximum number of measured heights; the oldest are dropped. */
const MOST_KNOWN = 20_000;

export interface RowPlace {
  readonly row: number;
  /** Pixels below the row's top. */
  readonly offset: number;
}

export class Heights {
  readonly #usual: number;
  readonly #known = new Map<number, number>();
  #sum = 0;
  /** Measured rows in order, with the total height of those before each. */
  #sorted: { rows: readonly number[]; before: readonly number[] } | undefined;

  /** @param usual Height assumed until a row is measured. */
  constructor(usual: number) {
    this.#usual = usual;
  }

  /** Height assumed for unmeasured rows. */
  get mean(): number {
    return this.#known.size === 0 ? this.#usual : this.#sum / this.#known.size;
  }

  of(row: number): number {
    return this.#known.get(row) ?? this.mean;
  }

  has(row: number): boolean {
    return this.#known.has(row);
  }

  set(row: number, height: number): void {
    const before = this.#known.get(row);
    if (before === height) return;
    this.#known.delete(row);
    this.#known.set(row, height);
    this.#sum += height - (before ?? 0);
    if (this.#known.size > MOST_KNOWN) {
      const [oldest] = this.#known;
      this.#known.delete(oldest![0]);
      this.#sum -= oldest![1];
    }
    this.#sorted = undefined;
  }

  /** Returns the top of a row: the total height of all rows before it. */
  top(row: number): number {
    const { rows, before } = this.#inOrder();
    const known = countBelow(rows, row);
    const sum = known === rows.length ? this.#sum : before[known]!;
    return sum + (row - known) * this.mean;
  }

  /** Returns the row at a vertical offset. */
  at(pixels: number, count: number): RowPlace {
    let [low, high] = [0, Math.max(0, count - 1)];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if (this.top(middle) <= pixels) low = middle;
      else high = middle - 1;
    }
    return { row: low, offset: Math.max(0, pixels - this.top(low)) };
  }

  #inOrder(): { rows: readonly number[]; before: readonly number[] } {
    if (this.#sorted === undefined) {
      const rows = [...this.#known.keys()].sort((a, b) => a - b);
      let sum = 0;
      const before = rows.map((row) => {
        const above = sum;
        sum += this.#known.get(row)!;
        return above;
      });
      this.#sorted = { rows, before };
    }
    return this.#sorted;
  }
}

function countBelow(numbers: readonly number[], limit: number): number {
  let [low, high] = [0, numbers.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (numbers[middle]! < limit) low = middle + 1;
    else high = middle;
  }
  return low;
}
