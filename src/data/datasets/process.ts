import { abortable } from "../../io/concurrency/abortable.ts";
import { DataError } from "../data_error.ts";
import { Dataset, type GetOptions, miscounted } from "../dataset.ts";
import { argument, type Recipe } from "../recipe.ts";

/**
 * Makes the samples of a batch from what was read.
 *
 * @typeParam S What is read of each sample.
 * @typeParam T What one sample is.
 * @param samples What was read, in the order of `indices`. If `options.memory` is given, bytes are views of it:
 * copy what is kept longer than the batch, for instance with `slice()`.
 * @param indices Indices of the samples.
 * @param options Options of the dataset's `get`.
 * @returns One sample for each index, in that order.
 */
export type Process<S, T> = (
  samples: S[],
  indices: readonly number[],
  options: GetOptions,
) => readonly T[] | Promise<readonly T[]>;

/**
 * A dataset that reads a batch in one go and passes it to `process`, which makes the samples: a function, or an
 * overridden method.
 *
 * @typeParam S What is read of each sample.
 * @typeParam T What one sample is.
 */
export abstract class ProcessedDataset<S, T> extends Dataset<T> {
  readonly #process: Process<S, T> | undefined;

  /**
   * Makes a dataset.
   *
   * @param process Makes the samples. By default they are what is read.
   */
  constructor(process?: Process<S, T>) {
    super();
    this.#process = process;
  }

  /**
   * Reads a batch.
   *
   * @param indices Indices from 0 to `length - 1`: any number, in any order, repeats allowed.
   * @returns The samples in the order of `indices`.
   * @throws {IndexError} If there is no such sample.
   * @throws {FormatError} If a sample is damaged.
   * @throws {DataError} With code `bad-batch` if `process` returns more or fewer samples.
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
      `Cannot make a batch of ${indices.length} samples: the 'process' of ` +
        `${this.constructor.name} made ${wrong}. It must return one for ` +
        "each index",
      {
        expected: indices.length,
        sample: first,
        path: first === undefined ? undefined : this.fileOf(first),
      },
    );
  }

  /** Reads the input of `process` for a batch, in the order of `indices`. */
  protected abstract readBatch(
    indices: readonly number[],
    options: GetOptions,
  ): Promise<S[]>;

  /**
   * Makes the samples of a batch (Python's `process`). By default it calls the dataset's {@linkcode Process}, if
   * any. Subclasses may override it.
   *
   * @param indices Indices of the samples.
   * @param samples What was read of them, in that order; {@linkcode Process} says how long it is valid.
   * @param options Options of the dataset's `get`.
   * @returns One sample for each index, in that order.
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
   * Returns the `process` function as an argument of the dataset's recipe.
   *
   * @throws {DataError} With code `not-portable` if the function was not imported from a module.
   */
  protected portableProcess(): unknown {
    const what = `The option 'process' of ${this.constructor.name}`;
    return argument(this.#process, what);
  }
}

/**
 * Checks that another thread would construct the same dataset: a subclass may behave differently.
 *
 * @throws {DataError} With code `not-portable` if the dataset is of a subclass.
 */
export function requireClass(
  dataset: object,
  own: { readonly name: string },
): void {
  if (dataset.constructor === own) return;
  throw new DataError(
    "not-portable",
    `Cannot send ${dataset.constructor.name} to worker threads: it ` +
      `extends ${own.name}, which they cannot make. Export a function ` +
      "that makes it, and give its module to datasetFrom(), or load with numWorkers: 0",
  );
}

/**
 * Returns a recipe with the arguments that constructed the dataset here.
 *
 * @param own Class that the module exports.
 * @param args Arguments of the constructor, or of the module's function `reopen`.
 * @throws {DataError} With code `not-portable` as {@linkcode requireClass} does.
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
