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

/** Options of {@linkcode Transform}. */
export interface TransformOptions {
  /** A safe integer ≥ 0: other seeds, other random numbers. Defaults to 0. */
  readonly seed?: number | undefined;
}

/**
 * Each sample of a source as a function, or a transform, makes it. It is given random numbers that follow from
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
  readonly #step: Step<S, T>;
  readonly #run: TransformFunction<S, T>;
  readonly #options: TransformOptions;
  readonly #seed: (options: GetOptions) => number;

  /**
   * Makes a source of another.
   *
   * @param step A function, a transform such as `new CenterCrop(224)`, or the module that exports either, as
   * `new URL("./decode.ts", import.meta.url)`: a function only the caller's thread can call.
   * @throws {RangeError} If the seed is out of range.
   * @throws {TypeError} If the step is none of these.
   */
  constructor(
    source: Dataset<S>,
    step: Step<S, T>,
    options: TransformOptions = {},
  ) {
    super();
    this.#source = source;
    this.#step = step;
    this.#run = runStep(step);
    this.#options = { seed: options.seed };
    this.#seed = ownSeed("transform", options.seed ?? 0);
  }

  /** Number of steps of the source. */
  get length(): number {
    return this.#source.length;
  }

  /**
   * Reads the samples of some steps, and transforms each.
   *
   * @throws {IndexError} If the source has no such step.
   * @throws {DataError} With code `sample-failed` if that throws.
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

  /** Those of the source. */
  override get shardLengths(): readonly number[] | undefined {
    return this.#source.shardLengths;
  }

  /** Tells the source. */
  override expect(steps: readonly number[], options?: GetOptions): number {
    return tellDataset(this.#source, steps, options);
  }

  /** The file that the sample of a step lies in. */
  override fileOf(step: number, options?: GetOptions): string | undefined {
    return this.#source.fileOf(step, options);
  }

  /** Recipe by which another thread makes this source. */
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
        `Transform failed at step ${step}${from}: ${messageOf(cause)}`,
        { sample: step, path, cause },
      );
    }
  }
}
