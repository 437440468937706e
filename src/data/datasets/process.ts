import { abortable } from "../../io/concurrency/abortable.ts";
import { DataError } from "../data_error.ts";
import { Dataset, type GetOptions, miscounted } from "../dataset.ts";
import { argument, type Recipe } from "../recipe.ts";

/**
 * Makes samples of what was read of a batch.
 *
 * @typeParam S What was read of each sample.
 * @typeParam T What is made of it.
 * @param samples In the order of `indices`. Where `options.memory` is given, bytes are views of it: what
 * is kept longer than the batch has to be copied, as by `slice()`.
 * @param indices Which samples they are.
 * @param options What the dataset was asked with.
 * @returns As many samples, in that order.
 */
export type Process<S, T> = (
  samples: S[],
  indices: readonly number[],
  options: GetOptions,
) => readonly T[] | Promise<readonly T[]>;

/**
 * A dataset that reads a batch in one go, and leaves it to `process` to make of it what is trained on:
 * to a function that it is given, or to the method of a class that extends it.
 *
 * @typeParam S What is read of each sample.
 * @typeParam T What one sample is.
 */
export abstract class ProcessedDataset<S, T> extends Dataset<T> {
  readonly #process: Process<S, T> | undefined;

  /**
   * Makes a dataset.
   *
   * @param process What makes the samples; unless given, they are what is read.
   */
  constructor(process?: Process<S, T>) {
    super();
    this.#process = process;
  }

  /**
   * Reads a batch.
   *
   * @param indices From 0 to `length - 1`: any number, in any order, repeats allowed.
   * @returns The samples in the order of `indices`.
   * @throws {IndexError} If there is no such sample.
   * @throws {FormatError} If one is damaged.
   * @throws {DataError} With code `bad-batch` if `process` made more samples, or fewer.
   */
  override async get(
    indices: readonly number[],
    options: GetOptions = {},
  ): Promise<readonly T[]> {
    const read = await this.readBatch(indices, options);
    const made = this.process(indices, read, options);
    const samples = made instanceof Promise
      ? await abortable(made, options.signal)
      : made;
    const wrong = miscounted(samples, indices);
    if (wrong === undefined) return samples;
    const [first] = indices;
    throw new DataError(
      "bad-batch",
      `The 'process' of ${this.constructor.name} made ${wrong} of a batch of ${indices.length}: ` +
        `it must return one for each index`,
      {
        expected: indices.length,
        sample: first,
        path: first === undefined ? undefined : this.fileOf(first),
      },
    );
  }

  /** Reads what the samples of a batch are made of, in the order of `indices`. */
  protected abstract readBatch(
    indices: readonly number[],
    options: GetOptions,
  ): Promise<S[]>;

  /**
   * Makes the samples of a batch (Python's `process`). To be overridden; otherwise the dataset's
   * {@linkcode Process} makes them.
   *
   * @param indices Which samples they are.
   * @param samples What was read of them, in that order; see {@linkcode Process} for how long it is
   * valid.
   * @param options What the dataset was asked with.
   * @returns As many samples, in that order.
   */
  protected process(
    indices: readonly number[],
    samples: S[],
    options: GetOptions,
  ): readonly T[] | Promise<readonly T[]> {
    return this.#process === undefined
      ? samples as readonly unknown[] as readonly T[]
      : this.#process(samples, indices, options);
  }

  /**
   * What makes the samples, as an argument of the dataset's recipe.
   *
   * @throws {DataError} With code `not-portable` if it is no module's function.
   */
  protected portableProcess(): unknown {
    const what = `The option 'process' of ${this.constructor.name}`;
    return argument(this.#process, what);
  }
}

/**
 * Makes sure that another thread would make the same dataset: a class that extends one of ours does more.
 *
 * @param own The class that the other thread would make.
 * @throws {DataError} With code `not-portable`.
 */
export function requireClass(
  dataset: object,
  own: { readonly name: string },
): void {
  if (dataset.constructor === own) return;
  throw new DataError(
    "not-portable",
    `${dataset.constructor.name} extends ${own.name}, and the loader's worker threads cannot make it: ` +
      `export a function that does, and give its module to datasetFrom(), or load with numWorkers: 0`,
  );
}

/**
 * The recipe of a dataset that another thread makes as it was made here.
 *
 * @param own The class, which the module exports.
 * @param args What its constructor is called with, or the function `reopen` of that module.
 * @throws {DataError} With code `not-portable` where {@linkcode requireClass} says so.
 */
export function recipeOf(
  dataset: object,
  own: { readonly name: string },
  module: string,
  args: readonly unknown[],
  reopen?: string,
): Recipe {
  requireClass(dataset, own);
  const how = reopen === undefined ? "new" : "call";
  return { module, name: reopen ?? own.name, how, args };
}
