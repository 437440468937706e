import { RecordfsError } from "../base/errors.ts";
import type { RemoteOptions } from "../io/remote/remote_options.ts";
import type { WaitOptions } from "../io/storage/byte_source.ts";

/** What a container can be converted to: one of the targets of a format, or `folder`. */
export type ConvertTarget = string;

/** What a conversion keeps, changes and loses, known before anything is written. */
export interface ConversionPlan {
  /** What is converted, as in `Bags, generation 1`. */
  readonly from: string;
  /** What it becomes. */
  readonly to: string;
  /** What is the same afterwards. */
  readonly kept: readonly string[];
  /** What has another form afterwards, but the same meaning. */
  readonly changed: readonly string[];
  /** What is not there any more. */
  readonly lost: readonly string[];
}

/** What {@linkcode ConvertOptions.onProgress} is told. */
export interface ConvertProgress {
  /** What is counted. */
  readonly unit: ConvertUnit;
  /** How many are written. */
  readonly done: number;
  /** How many there are, where that is known. */
  readonly total: number | undefined;
}

/** What a conversion goes through. */
export type ConvertUnit = "datapoints" | "files" | "samples" | "videos";

/** Options of {@linkcode convert}. */
export interface ConvertOptions extends WaitOptions {
  /**
   * What to convert to: `ffrecord` is a packed folder, `ffrecord-samples` plain samples, `bag` a
   * single one. Told by the target's name where it ends in `.ffr`, `.bag` or a slash.
   */
  readonly to?: ConvertTarget | undefined;
  /** Takes the source for this format (`ffrecord-samples`, `gulp`, `bags`, `folder` …). */
  readonly from?: string | undefined;
  /** How servers are reached, where the source is a URL. */
  readonly remote?: RemoteOptions | undefined;
  /** Of `bags` and `bag`; 3 by default. */
  readonly generation?: 1 | 2 | 3 | undefined;
  /** Keys and types, where files or samples become `bags`. */
  readonly spec?: Readonly<Record<string, string>> | undefined;
  /**
   * Of `bags`, `tar` and `tfrecord`: a shard is full when it has this many bytes, which its last sample may exceed. Of
   * `mds`: no shard has more bytes, but for a larger sample alone.
   */
  readonly shardSize?: number | undefined;
  /**
   * Of `bags`, `mds`, `tar` and `tfrecord`: a shard is full when it has this many datapoints, or samples. A tar of what
   * has rows or datapoints has a sample for each of their values.
   */
  readonly shardLength?: number | undefined;
  /**
   * Of `ffrecord-samples`, and of `ffrecord` from a folder: how many files, in a new directory; one is the
   * target itself where that ends in `.ffr`, as it is by default.
   */
  readonly parts?: number | undefined;
  /** Of `gulp`: how many videos a chunk has; 100 by default. */
  readonly videosPerChunk?: number | undefined;
  /**
   * Whether a target that is there is replaced, when the new one is complete: any file, and a directory
   * that holds nothing but a container such as the new one.
   */
  readonly replace?: boolean | undefined;
  /** Whether to convert although something is lost. */
  readonly lossy?: boolean | undefined;
  /** Told of the plan before anything is written; also of one that is refused. */
  readonly onPlan?: ((plan: ConversionPlan) => void) | undefined;
  /** Told how far it is. */
  readonly onProgress?: ((progress: ConvertProgress) => void) | undefined;
  /** Told of what is odd in the source, and, with `lossy`, of what is left out. */
  readonly onWarning?: ((message: string) => void) | undefined;
}

/** What {@linkcode convert} has done. */
export interface ConvertReport {
  /** Where the result is. */
  readonly path: string;
  /** What was kept, changed and lost. */
  readonly plan: ConversionPlan;
  /** What was converted. */
  readonly unit: ConvertUnit;
  /** How many were written. */
  readonly count: number;
  /** How often something was left out that was not known beforehand. */
  readonly leftOut: number;
}

/** A conversion is impossible, or would lose something; nothing was written. */
export class ConversionError extends RecordfsError {
  /**
   * `would-lose`: the option `lossy` converts all the same. `cannot-convert`: the content has no form in
   * the target. `bad-option`: an option does not fit the target, or is missing.
   */
  declare readonly code: "would-lose" | "cannot-convert" | "bad-option";
  /** What would be lost; none unless the code is `would-lose`. */
  readonly losses: readonly string[];

  /** Makes an error about the source `path`. */
  constructor(
    code: ConversionError["code"],
    message: string,
    path: string,
    losses: readonly string[] = [],
    cause?: unknown,
  ) {
    super(code, message, { path, cause });
    this.losses = losses;
  }
}

/** A value that the target has no form for, found when it is read. */
export class UnfitError extends Error {
  /** The name that errors of this kind have. */
  override name = "UnfitError";
}

/** Whether an error says what is wrong with a value, and not with the program or the system. */
export function isAboutValue(error: unknown): error is Error {
  return error instanceof UnfitError || error instanceof RecordfsError ||
    error instanceof SyntaxError || // JSON that is none
    error instanceof RangeError || error instanceof TypeError;
}

/** What is noted while a conversion is planned. */
export class PlanNotes {
  /** What is the same afterwards. */
  readonly kept: string[] = [];
  /** What has another form afterwards. */
  readonly changed: string[] = [];
  /** What is not there any more. */
  readonly lost: string[] = [];
}

/** A conversion that can be done. */
export interface Conversion {
  /** What the source is, for people. */
  readonly from: string;
  /** What it becomes, for people. */
  readonly to: string;
  /** What is kept, changed and lost. */
  readonly notes: PlanNotes;
  /** What it goes through. */
  readonly unit: ConvertUnit;
  /** How many there are, where that is known. */
  readonly total?: number | undefined;
  /** Writes the target, whole or not at all, and answers how many were written. */
  write(run: Run): Promise<number>;
}

/** What a conversion that is being written goes by. */
export class Run {
  /** Ends it early. */
  readonly signal: AbortSignal | undefined;
  /** How often something was left out. */
  leftOut = 0;
  readonly #source: string;
  readonly #options: ConvertOptions;
  readonly #conversion: Conversion;

  /** Begins to write a conversion of the source at that path. */
  constructor(source: string, options: ConvertOptions, conversion: Conversion) {
    this.signal = options.signal;
    this.#source = source;
    this.#options = options;
    this.#conversion = conversion;
  }

  /** Says how many are done. */
  tell(done: number): void {
    const { unit, total } = this.#conversion;
    this.#options.onProgress?.({ unit, done, total });
  }

  /**
   * Leaves something out that turned out to have no form in the target.
   *
   * @param what What is the matter, as a sentence without its end.
   * @throws {ConversionError} Unless the caller has agreed to losses.
   */
  leaveOut(what: string, cause?: unknown): void {
    if (this.#options.lossy !== true) {
      throw new ConversionError(
        "would-lose",
        `Cannot convert ${this.#source}: ${what}; nothing was written. The option ` +
          "`lossy` leaves it out",
        this.#source,
        [what],
        cause,
      );
    }
    this.leftOut++;
    this.#options.onWarning?.(`left out: ${what}`);
  }
}
