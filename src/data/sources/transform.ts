import { unlessAborted } from "../../io/unless_aborted.ts";
import { DataError } from "../data_error.ts";
import { Dataset, type GetOptions } from "../dataset.ts";
import { Random } from "../random/random.ts";
import {
  argument,
  type Imported,
  importedFunction,
  importedRecipe,
  RECIPE,
  type Recipe,
} from "../recipe.ts";
import { wholeBatch } from "./batch_parts.ts";
import { OwnSeed } from "./own_seed.ts";

/**
 * Makes of a sample what is trained on.
 *
 * @param random Random numbers that follow from the step and the seeds: whatever is drawn, draw it from
 * here.
 */
export type TransformFunction<S, T> = (
  sample: S,
  random: Random,
) => T | Promise<T>;

/** Options of {@linkcode Transform}. */
export interface TransformOptions {
  /** A safe integer ≥ 0: other seeds, other random numbers. Defaults to 0. */
  readonly seed?: number | undefined;
}

/**
 * Each sample of a source as a function makes it. The function is given random numbers that follow from
 * the step, the seed given here, and the loader's.
 *
 * @typeParam S What a sample of the source is.
 * @typeParam T What the function makes of it.
 *
 * @example A random byte of each sample
 * ```ts
 * import { FFRecordDataset, Transform } from "@recordfs/recordfs/data";
 * import assert from "node:assert/strict";
 *
 * using dataset = await FFRecordDataset.open("test/golden/ffrecord/plain_one/sample_86.ffr");
 * const source = new Transform(dataset, (bytes, random) => bytes[random.int(bytes.length)]);
 * assert.equal(source.length, 1);
 * assert.deepEqual(await source.get([0]), await source.get([0]));
 * ```
 */
export class Transform<S, T> extends Dataset<T> {
  readonly #source: Dataset<S>;
  readonly #from: Imported<TransformFunction<S, T>>;
  readonly #seed: OwnSeed;
  #imported: Promise<TransformFunction<S, T>> | undefined;

  /**
   * Makes a source of another.
   *
   * @param fn A function; or the module that exports it, as `new URL("./decode.ts", import.meta.url)`,
   * so that worker threads find it too.
   * @throws {RangeError} If the seed is out of range.
   */
  constructor(
    source: Dataset<S>,
    fn: Imported<TransformFunction<S, T>>,
    options: TransformOptions = {},
  ) {
    super();
    this.#source = source;
    this.#from = fn;
    this.#seed = new OwnSeed("transform", options.seed ?? 0);
  }

  /** Number of steps of the source. */
  get length(): number {
    return this.#source.length;
  }

  /**
   * Reads the samples of some steps, and calls the function with each.
   *
   * @throws {IndexError} If the source has no such step.
   * @throws {DataError} With code `sample-failed` if the function throws.
   */
  override async get(
    steps: readonly number[],
    options: GetOptions = {},
  ): Promise<readonly T[]> {
    this.#imported ??= importedFunction(this.#from);
    const fn = await this.#imported;
    const samples = wholeBatch(await this.#source.get(steps, options), steps);
    const made = Promise.all(
      samples.map((sample, i) => this.#apply(fn, sample, steps[i]!, options)),
    );
    return await unlessAborted(made, options.signal);
  }

  /** The file that the sample of a step lies in. */
  override fileOf(step: number, options: GetOptions = {}): string | undefined {
    return this.#source.fileOf(step, options);
  }

  /** How another thread makes this source. */
  override [RECIPE](): Recipe {
    const options: TransformOptions = { seed: this.#seed.given };
    const source = argument(this.#source, "The source of Transform");
    const fn = {
      recipe: importedRecipe(this.#from, "The function of Transform"),
    };
    return {
      module: import.meta.url,
      name: "Transform",
      how: "new",
      args: [source, fn, options],
    };
  }

  /** Closes the source. */
  override close(): void {
    this.#source.close();
  }

  async #apply(
    fn: TransformFunction<S, T>,
    sample: S,
    step: number,
    options: GetOptions,
  ): Promise<T> {
    try {
      return await fn(sample, new Random(this.#seed.for(options), step));
    } catch (cause) {
      options.signal?.throwIfAborted();
      const path = this.fileOf(step, options);
      const from = path === undefined ? "" : ` of ${path}`;
      const why = cause instanceof Error ? cause.message : String(cause);
      throw new DataError(
        "sample-failed",
        `The function of Transform failed at step ${step}${from}: ${why}`,
        { sample: step, path, cause },
      );
    }
  }
}
