import { type BatchSampler, checkShare } from "../samplers/batches.ts";
import type { SamplerLike } from "../samplers/subset_samplers.ts";
import type { Imported, ImportedName } from "../recipe.ts";
import { wholeNumber } from "../whole_numbers.ts";
import type { Collate } from "./batch/collate.ts";

/**
 * How a loader makes batches, and of what.
 *
 * @typeParam T What one sample is.
 * @typeParam B What one batch is.
 */
export interface LoaderOptions<T, B> {
  /** Samples in a batch; unless given, 1. */
  readonly batchSize?: number;
  /** True if each epoch has a random order of its own; unless given, samples come in their places. */
  readonly shuffle?: boolean;
  /** The seed of all that is random: a safe integer ≥ 0. Unless given, 0. */
  readonly seed?: number;
  /** In what order samples come, or their indices in that order; instead of `shuffle`. */
  readonly sampler?: SamplerLike;
  /** Which indices make a batch; instead of `batchSize`, `shuffle`, `sampler` and `dropLast`. */
  readonly batchSampler?: BatchSampler;
  /** True if a last batch that would be smaller is left out; unless given, it is kept. */
  readonly dropLast?: boolean;
  /**
   * What makes a batch of samples: a function, or where threads find it; `false` for the list that they
   * are, as a `DataLoader<T, T[]>`. Unless given, samples are stacked as {@linkcode Collated} says.
   */
  readonly collate?:
    | Imported<Collate<T, B>>
    | (T[] extends B ? false : never);
  /** Number of threads that load; 0, which is meant unless given, loads in the caller's. */
  readonly numWorkers?: number;
  /**
   * Batches that each thread, or the caller's where there is no other, may have under way or ready: no
   * more are in memory besides those that the caller holds. From 1; unless given, 2. From a server, a thread fetches
   * ahead what is in these.
   */
  readonly prefetchFactor?: number;
  /**
   * True if batches lie in shared memory, so that more threads can see them without a copy: their typed arrays
   * are views of `SharedArrayBuffer`s, also those that `collate` made. Unless given, they are not.
   */
  readonly shared?: boolean;
  /** True if the threads live on between loops; `close` ends them. Unless given, a loop's end does. */
  readonly persistentWorkers?: boolean;
  /**
   * How long a loop waits for a batch of its threads, in ms, before it fails; the first batch waits
   * for their start as well. Unless given, or if it is 0, for ever. A thread whose JavaScript heap has a
   * limit (`--v8-flags=--max-old-space-size`) and outgrows it falls silent: only this ends the waiting. A thread in a
   * loop without end is given up, but Deno 2.9.6 does not stop it: it takes a processor until the program ends.
   */
  readonly timeout?: number;
  /** Called in each thread with its number, from 0, before its dataset is made. */
  readonly workerInit?: URL | ImportedName;
  /** Which of the `worldSize` trainers this is, from 0; unless given, 0. */
  readonly rank?: number;
  /** Number of trainers that share each epoch: together they get every sample once. Unless given, 1. */
  readonly worldSize?: number;
  /** True if samples from an epoch's start come again until every rank has equally many. */
  readonly padRanks?: boolean;
  /**
   * What becomes of damaged samples, and of those whose picture or video is damaged: `throw` ends the loop, `skip` leaves
   * them out. A batch then has fewer samples, and one without any is passed over; which samples make which batch does
   * not change, nor what `save` gives. `skipped` counts them. Unless given, `throw`.
   */
  readonly onDamage?: "throw" | "skip";
  /** Told of samples that are skipped: the first ten of an epoch, then how many there were. Defaults to `console.warn`. */
  readonly onWarning?: ((message: string) => void) | undefined;
  /** Ends loops with its reason when it is aborted. */
  readonly signal?: AbortSignal | undefined;
}

/** Settings where options are not given. */
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

/** Options with what is meant where they are not given. */
export type LoaderSettings =
  & Omit<
    LoaderOptions<unknown, unknown>,
    keyof typeof DEFAULTS | "batchSize" | "collate" | "onDamage"
  >
  & Readonly<typeof DEFAULTS>
  & {
    /** `undefined` where a batch sampler says it. */
    readonly batchSize: number | undefined;
    readonly collate?: Imported<Collate<unknown, unknown>> | false;
    /** Whether damaged samples are skipped, as the option `onDamage` says. */
    readonly skips: boolean;
  };

/**
 * Checks options.
 *
 * @throws {TypeError} If one excludes another.
 * @throws {RangeError} If one is out of its range.
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
    throw new TypeError(`onDamage is ${onDamage}: give "throw" or "skip"`);
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
      `timeout is ${timeout}: give milliseconds up to ${LONGEST_TIMEOUT}, or 0 to wait for ever`,
    );
  }
}

/** The longest that timers take: 24 days. */
const LONGEST_TIMEOUT = 2 ** 31 - 1;

function refuseExclusive(
  options: Omit<LoaderOptions<unknown, unknown>, "collate">,
): void {
  const { batchSampler } = options;
  if (batchSampler !== undefined) {
    if (typeof batchSampler?.order !== "function") {
      throw new TypeError(
        "This is no batch sampler: give an object with length and order(seed, epoch), as new BatchSampler() " +
          "makes it of a list of indices",
      );
    }
    for (
      const name of ["batchSize", "shuffle", "sampler", "dropLast"] as const
    ) {
      if (options[name] === undefined || options[name] === false) continue;
      throw new TypeError(
        `batchSampler and ${name} exclude each other: a batch sampler says which samples make a batch, ` +
          `and in what order`,
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
      `${name} is for worker threads, and there are none: set numWorkers to 1 or more`,
    );
  }
}
