/** Heights of rows: those that were measured, and their mean for all others. */

/** How many are held; the oldest ones are forgotten. */
const MOST_KNOWN = 20_000;

/** Where a row is, in pixels from the top of all rows. */
export interface RowPlace {
  readonly row: number;
  /** How far below the row's top. */
  readonly offset: number;
}

/** Heights of rows in pixels, any number of them. */
export class Heights {
  readonly #usual: number;
  readonly #known = new Map<number, number>();
  #sum = 0;
  /** Measured rows in order, and the sum of the heights of those before each. */
  #sorted: { rows: readonly number[]; before: readonly number[] } | undefined;

  /** @param usual Height of rows as long as none was measured. */
  constructor(usual: number) {
    this.#usual = usual;
  }

  /** Height of a row that was not measured. */
  get mean(): number {
    return this.#known.size === 0 ? this.#usual : this.#sum / this.#known.size;
  }

  /** Height of a row. */
  of(row: number): number {
    return this.#known.get(row) ?? this.mean;
  }

  /** Whether a row was measured. */
  has(row: number): boolean {
    return this.#known.has(row);
  }

  /** Takes a measured height. */
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

  /** Where a row begins: the sum of the heights of all before it. */
  top(row: number): number {
    const { rows, before } = this.#inOrder();
    const known = countBelow(rows, row);
    const sum = known === rows.length ? this.#sum : before[known]!;
    return sum + (row - known) * this.mean;
  }

  /** The row at a place. */
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

/** How many of ascending numbers are below another one. */
function countBelow(numbers: readonly number[], limit: number): number {
  let [low, high] = [0, numbers.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (numbers[middle]! < limit) low = middle + 1;
    else high = middle;
  }
  return low;
}
