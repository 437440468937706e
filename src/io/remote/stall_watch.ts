/** Bytes that come in that time of a server that works; fewer in a shorter one. */
const LEAST = 16 * 1024;
/** However little patience there is, a server has so long to answer, in milliseconds. */
const SHORTEST = 2000;

/** Ends a request of which nothing comes any more, or next to nothing. */
export class StallWatch implements Disposable {
  /** How long hardly anything may come, in milliseconds; tests have less patience. */
  static silence = 20_000;
  readonly #controller = new AbortController();
  #timer: ReturnType<typeof setInterval>;
  #before = -1;
  /** Bytes that have come. */
  bytes = 0;

  /** @param most How long at most, where who waits has less patience, in milliseconds. */
  constructor(most = Infinity) {
    const { silence: usual } = StallWatch;
    const silence = Math.min(usual, Math.max(most, SHORTEST));
    const least = LEAST * silence / usual;
    this.#timer = setInterval(() => {
      if (this.bytes - Math.max(this.#before, 0) < least) {
        this.#controller.abort();
      }
      this.#before = this.bytes;
    }, silence);
  }

  /** Aborted when it is too quiet. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** What to say then. */
  get reason(): string {
    return `the server sent ${this.bytes} bytes and then next to nothing`;
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}
