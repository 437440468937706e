import { messageOf } from "../../base/message_text.ts";
import { abortable } from "../../io/concurrency/abortable.ts";
import { DataError } from "../data_error.ts";
import { Dataset, type GetOptions, tellDataset } from "../dataset.ts";
import { recipeOf } from "../datasets/process.ts";
import { Random } from "../random/random.ts";
import { argument, RECIPE, type Recipe } from "../recipe.ts";
import {
  runStep,
  type Step,
  stepArgument,
  type TransformFunction,
} from "../transforms/transform.ts";
import { wholeBatch } from "../arranged_dataset.ts";
import { ownSeed } from "./drawn_sources.ts";

/**
 * Applies a function or a transform to each sample of a source. Its random numbers depend on the step, the seed
 * given here and the loader's seed.
 *
 * @typeParam S What a sample of the source is.
 * @typeParam T What the function returns.
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
  readonly #step: Step<S, T>;
  readonly #run: TransformFunction<S, T>;
  readonly #options: { readonly seed: number | undefined };
  readonly #seed: (options: GetOptions) => number;

  /**
   * Makes the source.
   *
   * @param step A function, a transform such as `new CenterCrop(224)`, or the module that exports either, as
   * `new URL("./decode.ts", import.meta.url)`. A plain function can be called only in the caller's thread.
   * @throws {RangeError} If the seed is out of range.
   * @throws {TypeError} If the step is none of these.
   */
  constructor(
    source: Dataset<S>,
    step: Step<S, T>,
    options: {
      /** Seed of the random numbers: a safe integer ≥ 0. Defaults to 0. */
      readonly seed?: number | undefined;
    } = {},
  ) {
    super();
    this.#source = source;
    this.#step = step;
    this.#run = runStep(step);
    this.#options = { seed: options.seed };
    this.#seed = ownSeed("transform", options.seed ?? 0);
  }

  /** Number of samples of the source. */
  get length(): number {
    return this.#source.length;
  }

  /**
   * Reads the samples of some steps and transforms each.
   *
   * @throws {IndexError} If the source has no such step.
   * @throws {DataError} With code `sample-failed` if the transform throws.
   */
  override async get(
    steps: readonly number[],
    options: GetOptions = {},
  ): Promise<readonly T[]> {
    const samples = wholeBatch(await this.#source.get(steps, options), steps);
    const made = Promise.all(
      samples.map((sample, i) => this.#apply(sample, steps[i]!, options)),
    );
    return await abortable(made, options.signal);
  }

  /** Shard lengths of the source. */
  override get shardLengths(): readonly number[] | undefined {
    return this.#source.shardLengths;
  }

  /** Forwards the prefetch hint to the source. */
  override prefetch(steps: readonly number[], options?: GetOptions): number {
    return tellDataset(this.#source, steps, options);
  }

  /** Returns the file that contains the sample of a step. */
  override fileOf(step: number, options?: GetOptions): string | undefined {
    return this.#source.fileOf(step, options);
  }

  /** Returns the recipe that constructs this source in another thread. */
  override [RECIPE](): Recipe {
    const source = argument(this.#source, "The source of Transform");
    const applied = stepArgument(this.#step, "The function of Transform");
    const args = [source, applied, this.#options];
    return recipeOf(this, Transform, import.meta.url, args);
  }

  /** Closes the source. */
  override close(): void {
    this.#source.close();
  }

  async #apply(
    sample: S,
    step: number,
    options: GetOptions,
  ): Promise<T> {
    try {
      return await this.#run(sample, new Random(this.#seed(options), step));
    } catch (cause) {
      options.signal?.throwIfAborted();
      const path = this.fileOf(step, options);
      const from = path === undefined ? "" : ` of ${path}`;
      throw new DataError(
        "sample-failed",
        `Cannot transform step ${step}${from}: ${messageOf(cause)}`,
        { sample: step, path, cause },
      );
    }
  }
}
