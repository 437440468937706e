/** What keys are of: rows numbered from 0. */
export interface KeyedRows {
  /** How many there are. */
  readonly length: number;
  /** The key of a row. */
  id(row: number): string;
  /** The row of a key, or -1. */
  find(id: string): number;
}

/**
 * A map whose values are made when they are asked for, and not kept. Its keys are in the order of the
 * rows.
 */
export class LazyMap<V> implements ReadonlyMap<string, V> {
  readonly #rows: KeyedRows;
  readonly #value: (row: number) => V;

  /**
   * Makes a map.
   *
   * @param rows What its keys are of.
   * @param value The value of a row.
   */
  constructor(rows: KeyedRows, value: (row: number) => V) {
    this.#rows = rows;
    this.#value = value;
  }

  /** How many keys there are. */
  get size(): number {
    return this.#rows.length;
  }

  /** The value of a key, or `undefined`. */
  get(key: string): V | undefined {
    const row = this.#rows.find(key);
    return row < 0 ? undefined : this.#value(row);
  }

  /** Whether there is such a key. */
  has(key: string): boolean {
    return this.#rows.find(key) >= 0;
  }

  /** Calls `visit` for each value. */
  forEach(
    visit: (value: V, key: string, map: ReadonlyMap<string, V>) => void,
  ): void {
    for (const [key, value] of this) visit(value, key, this);
  }

  /** The keys. */
  *keys(): Generator<string, undefined, unknown> {
    for (let row = 0; row < this.size; row++) yield this.#rows.id(row);
    return undefined;
  }

  /** The values. */
  *values(): Generator<V, undefined, unknown> {
    for (let row = 0; row < this.size; row++) yield this.#value(row);
    return undefined;
  }

  /** The keys with their values. */
  *entries(): Generator<[string, V], undefined, unknown> {
    for (let row = 0; row < this.size; row++) {
      yield [this.#rows.id(row), this.#value(row)];
    }
    return undefined;
  }

  /** The keys with their values. */
  [Symbol.iterator](): Generator<[string, V], undefined, unknown> {
    return this.entries();
  }
}
