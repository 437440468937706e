import { clearImmediate, setImmediate } from "node:timers";

/** Bytes to fetch ahead of the current batch: more would evict each other from a small cache. */
const BYTES = 32 << 20;

/**
 * Sends a dataset a prefetch hint for each coming batch, once, up to a limit of bytes. Sends them after the current
 * read has been requested, so that this comes first.
 */
export class BatchesAhead<Job> {
  readonly #tell: (job: Job) => number;
  /** Batches hinted but not begun, with the bytes fetched for each. */
  readonly #told = new Map<Job, number>();
  readonly #untold = new Set<Job>();
  #later: ReturnType<typeof setImmediate> | undefined;
  #failure: { readonly error: unknown } | undefined;

  /** @param tell Sends the hint for a batch and returns the approximate bytes fetched for it. */
  constructor(tell: (job: Job) => number) {
    this.#tell = tell;
  }

  /** Adds a batch that will be read after those added before. */
  add(job: Job): void {
    this.#untold.add(job);
  }

  /** Notes that a batch is read now. Throws what the dataset's prefetch method threw, which it must not do. */
  begin(job: Job): void {
    if (!this.#told.delete(job)) {
      this.#untold.delete(job);
      this.#tell(job); // the dataset may read its samples one by one
    }
    if (this.#failure !== undefined) throw this.#failure.error;
    this.tellLater();
  }

  /** Schedules the hints that fit in the limit, after the current task. */
  tellLater(): void {
    if (this.#untold.size === 0 || this.#failure !== undefined) return;
    this.#later ??= setImmediate(() => {
      this.#later = undefined;
      this.#tellNow();
    });
  }

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
      this.#failure = { error }; // thrown by the next `begin`
    }
  }
}
