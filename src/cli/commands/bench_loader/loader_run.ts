import { Buffer } from "node:buffer";
import type { Dataset } from "../../../data/dataset.ts";
import { DataLoader } from "../../../data/loader/data_loader.ts";

/** How a loader is run, and for how long. */
export interface LoaderRunOptions {
  readonly workers: number;
  readonly batch: number;
  readonly prefetch: number;
  readonly shuffle: boolean;
  readonly seed: number;
  /** How long, where it is not so many batches. */
  readonly seconds: number;
  readonly batches: number | undefined;
  /** Whether strings count as the bytes they are of. */
  readonly hasTexts: boolean;
  readonly signal: AbortSignal;
  /** Told how many samples have been loaded, and at which rate in bytes. */
  readonly onProgress: (samples: number, bytesPerSecond: number) => void;
}

/** What a loader did. */
export interface LoaderRun {
  readonly workers: number;
  readonly batch: number;
  /** How long it took until the first batch was there, threads started. */
  readonly firstBatchSeconds: number;
  /** What came after the first batch, and in which time. */
  readonly batches: number;
  readonly samples: number;
  readonly bytes: number;
  readonly seconds: number;
  readonly samplesPerSecond: number;
  /** In units of 10^6 bytes. */
  readonly megabytesPerSecond: number;
}

/**
 * Loads a dataset, epoch after epoch, and measures how fast.
 *
 * @param dataset One that has samples.
 */
export async function runLoader(
  dataset: Dataset<unknown>,
  options: LoaderRunOptions,
): Promise<LoaderRun> {
  const { workers, batch, prefetch, shuffle, seed, signal } = options;
  await using loader = new DataLoader<unknown, unknown[]>(dataset, {
    batchSize: batch,
    numWorkers: workers,
    persistentWorkers: workers > 0,
    prefetchFactor: prefetch,
    shuffle,
    seed,
    collate: false,
    signal,
  });
  const clock = new RunClock(options);
  while (!clock.isOver) {
    for await (const samples of loader) {
      clock.count(samples);
      loader.recycle(samples);
      if (clock.isOver) break;
    }
  }
  return clock.end();
}

class RunClock {
  readonly #options: LoaderRunOptions;
  readonly #began = performance.now();
  /** When the first batch came. */
  #start = NaN;
  #now = NaN;
  #batches = 0;
  #samples = 0;
  #bytes = 0;

  constructor(options: LoaderRunOptions) {
    this.#options = options;
  }

  /** Whether it has run for as long as it should. */
  get isOver(): boolean {
    const { batches, seconds } = this.#options;
    return batches === undefined
      ? this.#seconds >= seconds && this.#batches > 0
      : this.#batches >= batches;
  }

  count(samples: readonly unknown[]): void {
    this.#now = performance.now();
    if (Number.isNaN(this.#start)) {
      this.#start = this.#now;
      return; // what comes before the threads run at full speed
    }
    this.#batches++;
    this.#samples += samples.length;
    this.#bytes += bytesIn(samples, this.#options.hasTexts);
    const perSecond = this.#bytes / this.#seconds;
    this.#options.onProgress(this.#samples, perSecond);
  }

  end(): LoaderRun {
    const seconds = this.#seconds;
    return {
      workers: this.#options.workers,
      batch: this.#options.batch,
      firstBatchSeconds: (this.#start - this.#began) / 1000,
      batches: this.#batches,
      samples: this.#samples,
      bytes: this.#bytes,
      seconds,
      samplesPerSecond: this.#samples / seconds,
      megabytesPerSecond: this.#bytes / 1e6 / seconds,
    };
  }

  get #seconds(): number {
    return (this.#now - this.#start) / 1000;
  }
}

/** Bytes of the arrays in samples, and of the texts: what was read, or decoded. */
function bytesIn(value: unknown, hasTexts: boolean): number {
  if (ArrayBuffer.isView(value)) return value.byteLength;
  if (typeof value === "string" && hasTexts) return Buffer.byteLength(value);
  if (typeof value !== "object" || value === null) return 0;
  return Object.values(value).reduce<number>(
    (sum, part) => sum + bytesIn(part, hasTexts),
    0,
  );
}
