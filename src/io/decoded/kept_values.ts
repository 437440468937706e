/** Values by numbers, up to so many bytes, or of another weight: those that were used of late stay, and the last one whatever it takes. */
export class KeptValues<T> {
  readonly #most: number;
  /** In order of use. */
  readonly #kept = new Map<number, Kept<T>>();
  #weight = 0;
  #lastKey: number | undefined;
  #last: T | undefined;

  /** @param most Bytes, or other weight, of all of them. */
  constructor(most: number) {
    this.#most = most;
  }

  /** The value of a number, if it is kept. */
  get(key: number): T | undefined {
    if (key === this.#lastKey) return this.#last;
    const kept = this.#kept.get(key);
    if (kept === undefined) return undefined;
    this.#use(key, kept);
    return kept.value;
  }

  /**
   * Keeps a value.
   *
   * @param weight Its part of that; given again where it has come to take others.
   */
  set(key: number, value: T, weight: number): void {
    this.#weight += weight - (this.#kept.get(key)?.weight ?? 0);
    this.#use(key, { value, weight });
    for (const [oldest, { weight }] of this.#kept) {
      if (this.#weight <= this.#most || oldest === key) return;
      this.#kept.delete(oldest);
      this.#weight -= weight;
    }
  }

  #use(key: number, kept: Kept<T>): void {
    this.#kept.delete(key); // to the end: most recently used
    this.#kept.set(key, kept);
    this.#lastKey = key;
    this.#last = kept.value;
  }
}

interface Kept<T> {
  readonly value: T;
  readonly weight: number;
}
