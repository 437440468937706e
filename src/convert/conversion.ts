import { RecordfsError } from "../base/errors.ts";
import { LOSSY, optionsNamedBy, optionText } from "../base/named_option.ts";
import type { RemoteOptions } from "../io/remote/remote_options.ts";
import type { WaitOptions } from "../io/storage/byte_source.ts";

/** Options of {@linkcode convert}. */
export interface ConvertOptions extends WaitOptions {
  /**
   * One of a format's targets, or `folder`: `ffrecord` is a packed folder, `ffrecord-samples` plain samples, `bag` a single bag. By default the
   * target's name decides, if it ends in `.ffr`, `.bag` or a slash.
   */
  readonly to?: string | undefined;
  /** Format of the source, instead of detecting it (`ffrecord-samples`, `gulp`, `bags`, `folder` …). */
  readonly from?: string | undefined;
  /**
   * Samples to convert: their indices, or the location of an index file, as `recordfs split` writes it. They are
   * converted in the order of the source, each once. An index file is refused if it indexes other samples. Defaults to
   * all samples.
   */
  readonly subset?: Iterable<number> | string | URL | undefined;
  /** Options for servers, if the source is a URL. */
  readonly remote?: RemoteOptions | undefined;
  /** Most bytes that a compressed source may expand to, for each of its own. Defaults to any. */
  readonly maxRatio?: number | undefined;
  /** For `bags` and `bag`; defaults to 3. */
  readonly generation?: 1 | 2 | 3 | undefined;
  /** Keys and types, if files or samples become `bags`. */
  readonly spec?: Readonly<Record<string, string>> | undefined;
  /**
   * Shard size in bytes. For `bags`, `parquet`, `tar` and `tfrecord`: a shard is full when it reaches this size, which its last
   * sample may exceed. For `mds`: the maximum size, except for a single larger sample.
   */
  readonly shardSize?: number | undefined;
  /** For `bags`, `mds`, `parquet`, `tar` and `tfrecord`: number of datapoints or samples in a full shard. */
  readonly shardLength?: number | undefined;
  /**
   * For `ffrecord-samples`, and for `ffrecord` from a folder: number of files, in a new directory. A single file is the
   * target itself if that ends in `.ffr`, which is the default.
   */
  readonly parts?: number | undefined;
  /** For `parquet`: maximum rows of a row group; defaults to 10,000. One also ends at 64 MiB of values. */
  readonly rowGroup?: number | undefined;
  /** For `gulp`: videos per chunk; defaults to 100. */
  readonly videosPerChunk?: number | undefined;
  /**
   * Whether to replace an existing target once the new one is complete: any file, or a directory that contains only a
   * container of the target's kind.
   */
  readonly replace?: boolean | undefined;
  /** Whether to convert despite losses. */
  readonly lossy?: boolean | undefined;
  /** Called with the plan before anything is written, even if the plan is then refused. */
  readonly onPlan?: ((plan: ConvertReport["plan"]) => void) | undefined;
  /** Called with the progress. */
  readonly onProgress?:
    | ((progress: {
      /** Unit of the counts. */
      readonly unit: ConvertReport["unit"];
      /** Number written so far. */
      readonly done: number;
      /** Total number, if known. */
      readonly total: number | undefined;
    }) => void)
    | undefined;
  /** Called with oddities of the source and, with `lossy`, with skipped items. */
  readonly onWarning?:
    | ((message: string, options?: RecordfsError["namedOptions"]) => void)
    | undefined;
}

/** Result of {@linkcode convert}. */
export interface ConvertReport {
  /** Path of the result. */
  readonly path: string;
  /** What the conversion keeps, changes and loses, known before anything is written. */
  readonly plan: {
    /** Source, such as `Bags, generation 1`. */
    readonly from: string;
    /** Target. */
    readonly to: string;
    /** What stays the same. */
    readonly kept: readonly string[];
    /** What changes in form but not in meaning. */
    readonly changed: readonly string[];
    /** What is lost. */
    readonly lost: readonly string[];
    /** Numbers of samples, if only some are converted. */
    readonly subset?: {
      /** Number of samples to convert. */
      readonly samples: number;
      /** Number of samples in the source. */
      readonly of: number;
    } | undefined;
  };
  /** Unit of `count`. */
  readonly unit: "datapoints" | "files" | "samples" | "videos";
  /** Number written. */
  readonly count: number;
  /** Number of skipped items that the plan did not predict. */
  readonly leftOut: number;
}

/** Thrown if a conversion is impossible or would lose something; nothing was written. */
export class ConversionError extends RecordfsError {
  /**
   * `would-lose`: the option `lossy` converts anyway. `cannot-convert`: the target cannot represent the content.
   * `bad-option`: an option does not fit the target, or is missing.
   */
  declare readonly code: "would-lose" | "cannot-convert" | "bad-option";
  /** What would be lost; empty unless the code is `would-lose`. */
  readonly losses: readonly string[];

  /** Makes an error about the source `path`. */
  constructor(
    code: ConversionError["code"],
    message: string,
    path: string,
    losses: readonly string[] = [],
    cause?: unknown,
    namedOptions?: RecordfsError["namedOptions"],
  ) {
    super(code, message, { path, cause, namedOptions });
    this.losses = losses;
  }
}

/** A value that the target cannot represent, found on reading. */
export class UnfitError extends Error {
  /** Name of the error class. */
  override name = "UnfitError";
}

/** Whether an error is about a value, rather than the program or the system. */
export function isAboutValue(error: unknown): error is Error {
  return error instanceof UnfitError || error instanceof RecordfsError ||
    error instanceof SyntaxError || // invalid JSON
    error instanceof RangeError || error instanceof TypeError;
}

/** Notes collected while planning a conversion. */
export class PlanNotes {
  /** What stays the same. */
  readonly kept: string[] = [];
  /** What changes in form. */
  readonly changed: string[] = [];
  /** What is lost. */
  readonly lost: string[] = [];
}

/** A conversion that is ready to run. */
export interface Conversion {
  /** Description of the source. */
  readonly from: string;
  /** Description of the target. */
  readonly to: string;
  /** What is kept, changed and lost. */
  readonly notes: PlanNotes;
  /** Unit of the counts. */
  readonly unit: ConvertReport["unit"];
  /** Total number, if known. */
  readonly total?: number | undefined;
  /** Writes the target completely or not at all, and returns the number written. */
  write(run: Run): Promise<number>;
}

/** State of a running conversion. */
export class Run {
  /** Aborts the conversion. */
  readonly signal: AbortSignal | undefined;
  /** Number of skipped items. */
  leftOut = 0;
  readonly #source: string;
  readonly #options: ConvertOptions;
  readonly #conversion: Conversion;

  /** Starts a conversion of the source at that path. */
  constructor(source: string, options: ConvertOptions, conversion: Conversion) {
    this.signal = options.signal;
    this.#source = source;
    this.#options = options;
    this.#conversion = conversion;
  }

  /** Reports the number done. */
  tell(done: number): void {
    const { unit, total } = this.#conversion;
    this.#options.onProgress?.({ unit, done, total });
  }

  /**
   * Skips something that the target turns out not to represent.
   *
   * @param what The problem, as a sentence without its end.
   * @throws {ConversionError} Unless the caller allows losses.
   */
  leaveOut(what: string, cause?: unknown): void {
    this.#requireLossy(what, cause);
    this.leftOut++;
    this.#options.onWarning?.(`skipped: ${what}`, optionsNamedBy(cause));
  }

  /** Loses a part of something that is written. As {@linkcode Run.leaveOut} otherwise. */
  lose(what: string): void {
    this.#requireLossy(what, undefined);
    this.#options.onWarning?.(`lost: ${what}`);
  }

  #requireLossy(what: string, cause: unknown): void {
    if (this.#options.lossy !== true) {
      throw new ConversionError(
        "would-lose",
        `Cannot convert ${this.#source}: ${what}; nothing was written. Skip it with ` +
          optionText(LOSSY),
        this.#source,
        [what],
        cause,
        [LOSSY],
      );
    }
  }
}
