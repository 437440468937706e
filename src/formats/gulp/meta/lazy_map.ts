/**
 * A map whose values are made when they are asked for, and not kept. Its keys are in the order of the
 * rows.
 */
export class LazyMap<V> implements ReadonlyMap<string, V> {
  /** How many keys there are. */
  readonly size: number;
  readonly #key: (row: number) => string;
  readonly #find: (key: string) => number;
  readonly #value: (row: number) => V;

  /**
   * Makes a map of rows numbered from 0.
   *
   * @param size How many rows there are.
   * @param key The key of a row.
   * @param find The row of a key, or -1.
   * @param value The value of a row.
   */
  constructor(
    size: number,
    key: (row: number) => string,
    find: (key: string) => number,
    value: (row: number) => V,
  ) {
    this.size = size;
    this.#key = key;
    this.#find = find;
    this.#value = value;
  }

  /** The value of a key, or `undefined`. */
  get(key: string): V | undefined {
    const row = this.#find(key);
    return row < 0 ? undefined : this.#value(row);
  }

  /** Whether there is such a key. */
  has(key: string): boolean {
    return this.#find(key) >= 0;
  }

  /** Calls `visit` for each value. */
  forEach(
    visit: (value: V, key: string, map: ReadonlyMap<string, V>) => void,
  ): void {
    for (const [key, value] of this) visit(value, key, this);
  }

  /** The keys. */
  *keys(): Generator<string, undefined, unknown> {
    for (let row = 0; row < this.size; row++) yield this.#key(row);
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
      yield [this.#key(row), this.#value(row)];
    }
    return undefined;
  }

  /** The keys with their values. */
  [Symbol.iterator](): Generator<[string, V], undefined, unknown> {
    return this.entries();
  }
}
