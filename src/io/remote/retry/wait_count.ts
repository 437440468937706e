/** Waits for a range of an object, which arrives in one or several flights. */
export class WaitCount {
  /** Resolves when everything has arrived; rejects if any part fails. */
  readonly done: Promise<void>;
  readonly offset: number;
  readonly end: number;
  #into: Uint8Array | undefined;
  readonly #resolve: () => void;
  readonly #reject: (reason: unknown) => void;
  /** Number of parts to wait for. The creator holds one until everything is requested. */
  #holds = 1;

  /** @param into Memory to fill; without it, the range is only fetched. */
  constructor(offset: number, length: number, into?: Uint8Array) {
    this.offset = offset;
    this.end = offset + length;
    this.#into = into;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    promise.catch(() => {}); // the waiter may be gone
    this.done = promise;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  hold(): void {
    this.#holds++;
  }

  release(): void {
    if (--this.#holds === 0) this.#resolve();
  }

  take(bytes: Uint8Array, offset: number): void {
    if (this.#into === undefined) return;
    const start = Math.max(offset, this.offset);
    const end = Math.min(offset + bytes.length, this.end);
    if (start >= end) return;
    const part = bytes.subarray(start - offset, end - offset);
    this.#into.set(part, start - this.offset);
  }

  /** Stops copying, because the caller reuses the memory. */
  leave(): void {
    this.#into = undefined;
  }

  fail(reason: unknown): void {
    this.leave();
    this.#reject(reason);
  }
}
