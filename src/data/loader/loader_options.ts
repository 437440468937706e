import { type BatchSampler, checkShare } from "../samplers/batches.ts";
import type { BatchMemory } from "../batch_memory.ts";
import type { Imported } from "../recipe.ts";
import type { Sampler } from "../samplers/sampler.ts";
import { wholeNumber } from "../whole_numbers.ts";

/**
 * Options of a loader.
 *
 * @typeParam T What one sample is.
 * @typeParam B What one batch is.
 */
export interface LoaderOptions<T, B> {
  /** Samples per batch. Defaults to 1. */
  readonly batchSize?: number;
  /** Whether each epoch has its own random order. Defaults to `false`: samples in ascending order. */
  readonly shuffle?: boolean;
  /** Seed of everything random: a safe integer ≥ 0. Defaults to 0. */
  readonly seed?: number;
  /** Sampler, or ordered indices. Excludes `shuffle`. */
  readonly sampler?: Sampler | ArrayLike<number> | Iterable<number>;
  /** Batch sampler. Excludes `batchSize`, `shuffle`, `sampler` and `dropLast`. */
  readonly batchSampler?: BatchSampler;
  /** Whether to drop a smaller last batch. Defaults to `false`. */
  readonly dropLast?: boolean;
  /**
   * Makes a batch of samples: a function, or the export that threads import it from; `false` returns the list of
   * samples, as a `DataLoader<T, T[]>`. By default, samples are stacked as {@linkcode Collated} describes. In a worker
   * thread the batch is transferred: the function must not keep any part of it.
   */
  readonly collate?:
    | Imported<
      (
        samples: readonly T[],
        options: {
          /** Memory for the batch. It passes between threads without a copy, and is reused after `recycle`. */
          readonly memory: BatchMemory;
        },
      ) => B | Promise<B>
    >
    | (T[] extends B ? false : never);
  /** Number of worker threads. Defaults to 0: loads in the caller's thread. */
  readonly numWorkers?: number;
  /**
   * Maximum number of batches in flight or ready per thread (the caller's without workers), besides those that the
   * caller holds. At least 1, defaults to 2. Remote data for these batches is fetched ahead.
   */
  readonly prefetchFactor?: number;
  /**
   * Whether batches lie in shared memory, so that more threads can see them without a copy. Their typed arrays are
   * then views of `SharedArrayBuffer`s, including those that `collate` made. Defaults to `false`.
   */
  readonly shared?: boolean;
  /** Whether threads stay alive between loops, until `close`. Defaults to `false`: they end with the loop. */
  readonly persistentWorkers?: boolean;
  /**
   * Timeout of a loop's wait for a batch of its threads, in ms; the first batch includes their start. Defaults to
   * 0, for no timeout. A thread that exceeds a limit of its JavaScript heap (`--v8-flags=--max-old-space-size`)
   * falls silent: only this timeout ends the wait. A thread in an endless loop is abandoned, but Deno 2.9.6 does
   * not stop it: it occupies a processor until the program ends.
   */
  readonly timeout?: number;
  /** Function that each thread calls with its number, from 0, before it constructs its dataset. */
  readonly workerInit?: Imported<never>;
  /** Rank of this trainer, from 0 to `worldSize - 1`. Defaults to 0. */
  readonly rank?: number;
  /** Number of trainers that share each epoch; together they get every sample once. Defaults to 1. */
  readonly worldSize?: number;
  /** Whether samples from the start of an epoch are repeated until every rank has equally many. */
  readonly padRanks?: boolean;
  /**
   * How to treat damaged samples, including those with a damaged picture or video: `throw` ends the loop, `skip`
   * skips them. With `skip`, a batch may have fewer samples, and one without any is passed over; neither the
   * composition of batches nor the result of `save` changes. `skipped` counts the samples. Defaults to `throw`.
   */
  readonly onDamage?: "throw" | "skip";
  /** Called for skipped samples: the first ten of an epoch, then their total. Defaults to `console.warn`. */
  readonly onWarning?: ((message: string) => void) | undefined;
  /** Ends loops with its reason when aborted. */
  readonly signal?: AbortSignal | undefined;
}

const DEFAULTS = {
  shuffle: false,
  seed: 0,
  dropLast: false,
  numWorkers: 0,
  prefetchFactor: 2,
  shared: false,
  persistentWorkers: false,
  timeout: 0,
  rank: 0,
  worldSize: 1,
  padRanks: false,
};

/** Function that collates samples to a batch. */
export type Collate = Extract<
  LoaderOptions<unknown, unknown>["collate"],
  (...args: never[]) => unknown
>;

/** Options with defaults applied. */
export type LoaderSettings =
  & Omit<
    LoaderOptions<unknown, unknown>,
    keyof typeof DEFAULTS | "batchSize" | "collate" | "onDamage"
  >
  & Readonly<typeof DEFAULTS>
  & {
    /** `undefined` with a batch sampler. */
    readonly batchSize: number | undefined;
    readonly collate?: Imported<Collate> | false;
    readonly skips: boolean;
  };

/**
 * Checks options and applies defaults.
 *
 * @throws {TypeError} If options exclude each other.
 * @throws {RangeError} If an option is out of range.
 */
export function settingsOf<T, B>(
  options: LoaderOptions<T, B>,
): LoaderSettings {
  refuseExclusive(options);
  const given = Object.entries(options).filter(([, value]) =>
    value !== undefined && value !== null
  );
  const { onDamage = "throw", ...rest } = Object.fromEntries(given);
  if (onDamage !== "throw" && onDamage !== "skip") {
    throw new TypeError(`onDamage must be "throw" or "skip", not ${onDamage}`);
  }
  const settings: LoaderSettings = {
    ...DEFAULTS,
    ...rest,
    skips: onDamage === "skip",
    batchSize: options.batchSampler === undefined
      ? options.batchSize ?? 1
      : undefined,
  };
  checkRanges(settings);
  return settings;
}

function checkRanges(settings: LoaderSettings): void {
  const { batchSize = 1, rank, worldSize, timeout } = settings;
  checkShare(batchSize, rank, worldSize);
  wholeNumber(settings.seed, 0, "seed");
  wholeNumber(settings.numWorkers, 0, "numWorkers");
  wholeNumber(settings.prefetchFactor, 1, "prefetchFactor");
  if (!(timeout >= 0 && timeout <= LONGEST_TIMEOUT)) {
    throw new RangeError(
      `timeout must be milliseconds up to ${LONGEST_TIMEOUT}, or 0 to ` +
        `wait forever, not ${timeout}`,
    );
  }
}

/** Maximum delay of timers: 24 days. */
const LONGEST_TIMEOUT = 2 ** 31 - 1;

function refuseExclusive(
  options: Omit<LoaderOptions<unknown, unknown>, "collate">,
): void {
  const { batchSampler } = options;
  if (batchSampler !== undefined) {
    if (typeof batchSampler?.order !== "function") {
      throw new TypeError(
        "A batch sampler must be an object with length and order(seed, epoch), such as " +
          "new BatchSampler() makes of a list of indices",
      );
    }
    for (
      const name of ["batchSize", "shuffle", "sampler", "dropLast"] as const
    ) {
      if (options[name] === undefined || options[name] === false) continue;
      throw new TypeError(
        `batchSampler and ${name} exclude each other: a batch sampler says ` +
          "which samples make a batch, and in what order",
      );
    }
  }
  if (options.sampler !== undefined && options.shuffle) {
    throw new TypeError(
      "sampler and shuffle exclude each other: a sampler says in what order samples come",
    );
  }
  if ((options.numWorkers ?? 0) > 0) return;
  for (const name of ["persistentWorkers", "timeout", "workerInit"] as const) {
    if (!options[name]) continue;
    throw new TypeError(
      `${name} is only for worker threads: set numWorkers to 1 or more`,
    );
  }
}
