/** Somebody who waits for a part of an object, which comes by one or several flights. */
export class Waiting {
  /** Fulfilled when all has come; rejected when something of it does not. */
  readonly done: Promise<void>;
  readonly offset: number;
  readonly end: number;
  #into: Uint8Array | undefined;
  readonly #resolve: () => void;
  readonly #reject: (reason: unknown) => void;
  /** What it waits for; its maker is one of these until all has been asked for. */
  #holds = 1;

  /** @param into What to fill; without it, the part is only to be there. */
  constructor(offset: number, length: number, into?: Uint8Array) {
    this.offset = offset;
    this.end = offset + length;
    this.#into = into;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    promise.catch(() => {}); // who waits may have gone
    this.done = promise;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  /** Has it wait for one thing more. */
  hold(): void {
    this.#holds++;
  }

  /** One of these has come. */
  release(): void {
    if (--this.#holds === 0) this.#resolve();
  }

  /** Takes what is of its part. */
  take(bytes: Uint8Array, offset: number): void {
    if (this.#into === undefined) return;
    const start = Math.max(offset, this.offset);
    const end = Math.min(offset + bytes.length, this.end);
    if (start >= end) return;
    const part = bytes.subarray(start - offset, end - offset);
    this.#into.set(part, start - this.offset);
  }

  /** Takes nothing more: whoever gave the memory uses it for something else. */
  leave(): void {
    this.#into = undefined;
  }

  fail(reason: unknown): void {
    this.leave();
    this.#reject(reason);
  }
}
