import { DataError } from "../data_error.ts";
import type { GetOptions } from "../dataset.ts";
import type { Recipe } from "../recipe.ts";

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
