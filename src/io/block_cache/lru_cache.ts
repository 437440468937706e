/** LRU cache of values by weight, such as bytes. The last value set stays, whatever its weight. */
export class LruCache<T, Key = number> {
  readonly #most: number;
  readonly #kept = new Map<Key, LruEntry<T>>();
  #weight = 0;
  #lastKey: Key | undefined;
  #last: T | undefined;

  constructor(most: number) {
    this.#most = most;
  }

  get(key: Key): T | undefined {
    if (key === this.#lastKey) return this.#last;
    const kept = this.#kept.get(key);
    if (kept === undefined) return undefined;
    this.#use(key, kept);
    return kept.value;
  }

  /** Caches a value. Must be called again when its weight changes. */
  set(key: Key, value: T, weight: number): void {
    this.#weight += weight - (this.#kept.get(key)?.weight ?? 0);
    this.#use(key, { value, weight });
    for (const [oldest, { weight }] of this.#kept) {
      if (this.#weight <= this.#most || oldest === key) return;
      this.#kept.delete(oldest);
      this.#weight -= weight;
    }
  }

  #use(key: Key, kept: LruEntry<T>): void {
    this.#kept.delete(key); // to the end: most recently used
    this.#kept.set(key, kept);
    this.#lastKey = key;
    this.#last = kept.value;
  }
}

interface LruEntry<T> {
  readonly value: T;
  readonly weight: number;
}
