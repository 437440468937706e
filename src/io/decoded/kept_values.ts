/** Values by numbers, up to so many bytes: those that were used of late stay, and the last one whatever it takes. */
export class KeptValues<T> {
  readonly #most: number;
  /** In order of use. */
  readonly #kept = new Map<
    number,
    { readonly value: T; readonly weight: number }
  >();
  #weight = 0;

  /** @param most Bytes of all of them. */
  constructor(most: number) {
    this.#most = most;
  }

  /** The value of a number, if it is kept. */
  get(key: number): T | undefined {
    const kept = this.#kept.get(key);
    if (kept === undefined) return undefined;
    this.#kept.delete(key);
    this.#kept.set(key, kept);
    return kept.value;
  }

  /** Keeps a value. */
  set(key: number, value: T, weight: number): void {
    this.#weight += weight - (this.#kept.get(key)?.weight ?? 0);
    this.#kept.delete(key);
    this.#kept.set(key, { value, weight });
    for (const [oldest, { weight }] of this.#kept) {
      if (this.#weight <= this.#most || oldest === key) return;
      this.#kept.delete(oldest);
      this.#weight -= weight;
    }
  }
}
