import { clearImmediate, setImmediate } from "node:timers";

/** Bytes that are fetched ahead of the batch that is read: more would push each other out of a small cache. */
const BYTES = 32 << 20;

/**
 * Tells a dataset of the batches that will be read, each once, as far ahead as bytes may be fetched. It is told when
 * what is read now has been asked for, so that this comes first.
 */
export class BatchesAhead<Job> {
  readonly #tell: (job: Job) => number;
  /** What was told and not begun, with the bytes that were fetched for it. */
  readonly #told = new Map<Job, number>();
  readonly #untold = new Set<Job>();
  #later: ReturnType<typeof setImmediate> | undefined;
  #failure: { readonly error: unknown } | undefined;

  /** @param tell Tells of one; returns about how many bytes are fetched for it. */
  constructor(tell: (job: Job) => number) {
    this.#tell = tell;
  }

  /** Adds a batch that will be read after those before. */
  add(job: Job): void {
    this.#untold.add(job);
  }

  /**
   * Hears that a batch is read now.
   *
   * @throws What the dataset has thrown, which it must not.
   */
  begin(job: Job): void {
    if (!this.#told.delete(job)) {
      this.#untold.delete(job);
      this.#tell(job); // it may read its samples one by one
    }
    if (this.#failure !== undefined) throw this.#failure.error;
    this.tellLater();
  }

  /** Tells of as much as may be fetched, when what runs now is done. */
  tellLater(): void {
    if (this.#untold.size === 0 || this.#failure !== undefined) return;
    this.#later ??= setImmediate(() => {
      this.#later = undefined;
      this.#tellNow();
    });
  }

  /** Forgets all of them. */
  clear(): void {
    clearImmediate(this.#later);
    this.#later = undefined;
    this.#told.clear();
    this.#untold.clear();
  }

  #tellNow(): void {
    let bytes = 0;
    for (const some of this.#told.values()) bytes += some;
    try {
      for (const job of this.#untold) {
        if (bytes >= BYTES) return;
        const some = this.#tell(job);
        this.#untold.delete(job);
        this.#told.set(job, some);
        bytes += some;
      }
    } catch (error) {
      this.#failure = { error }; // there is nobody here to throw it to
    }
  }
}
