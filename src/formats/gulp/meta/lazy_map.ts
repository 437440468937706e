/** Rows numbered from 0, each with a key. */
export interface KeyedRows {
  /** Number of rows. */
  readonly length: number;
  /** Returns the key of a row. */
  id(row: number): string;
  /** Returns the row of a key, or -1. */
  find(id: string): number;
}

/** Map that makes values on access and does not cache them. Keys are in row order. */
export class LazyMap<V> implements ReadonlyMap<string, V> {
  readonly #rows: KeyedRows;
  readonly #value: (row: number) => V;

  /**
   * Makes a map.
   *
   * @param rows Rows and their keys.
   * @param value Makes the value of a row.
   */
  constructor(rows: KeyedRows, value: (row: number) => V) {
    this.#rows = rows;
    this.#value = value;
  }

  /** Number of keys. */
  get size(): number {
    return this.#rows.length;
  }

  /** Returns the value of a key, or `undefined`. */
  get(key: string): V | undefined {
    const row = this.#rows.find(key);
    return row < 0 ? undefined : this.#value(row);
  }

  /** Whether the map has a key. */
  has(key: string): boolean {
    return this.#rows.find(key) >= 0;
  }

  /** Calls `visit` for each value. */
  forEach(
    visit: (value: V, key: string, map: ReadonlyMap<string, V>) => void,
  ): void {
    for (const [key, value] of this) visit(value, key, this);
  }

  /** Yields the keys. */
  *keys(): Generator<string, undefined, unknown> {
    for (let row = 0; row < this.size; row++) yield this.#rows.id(row);
    return undefined;
  }

  /** Yields the values. */
  *values(): Generator<V, undefined, unknown> {
    for (let row = 0; row < this.size; row++) yield this.#value(row);
    return undefined;
  }

  /** Yields the keys with their values. */
  *entries(): Generator<[string, V], undefined, unknown> {
    for (let row = 0; row < this.size; row++) {
      yield [this.#rows.id(row), this.#value(row)];
    }
    return undefined;
  }

  /** Yields the keys with their values. */
  [Symbol.iterator](): Generator<[string, V], undefined, unknown> {
    return this.entries();
  }
}
