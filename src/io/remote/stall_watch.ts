/** Bytes that come in that time of a server that works. */
const LEAST = 16 * 1024;

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
    const silence = Math.min(StallWatch.silence, most);
    this.#timer = setInterval(() => {
      if (this.bytes - Math.max(this.#before, 0) < LEAST) {
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
