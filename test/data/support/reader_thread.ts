/** Thread of {@linkcode inThread}: makes the value of a recipe, and reads a batch from it. */
import type { Dataset } from "../../../src/data/dataset.ts";
import {
  importThreadModules,
  type ThreadModule,
} from "../../../src/io/concurrency/thread_modules.ts";
import { followRecipe, type Recipe } from "../../../src/data/recipe.ts";

/** Request to the thread. */
export interface Order {
  readonly recipe: Recipe;
  readonly indices: readonly number[];
  readonly modules: readonly ThreadModule[];
}

/** Response of the thread. */
export interface Answer {
  readonly length: number;
  readonly samples: readonly unknown[];
  readonly files: readonly (string | undefined)[];
}

/** Response of the thread if it failed. */
export interface Failure {
  readonly code: unknown;
  readonly message: string;
}

declare const self: Worker;

self.onmessage = async ({ data }: MessageEvent<Order>) => {
  self.postMessage(
    await answer(data).catch((error): Failure => ({
      code: error.code,
      message: error.message,
    })),
  );
};

async function answer(
  { recipe, indices, modules }: Order,
): Promise<Answer> {
  await importThreadModules(modules);
  using dataset = (await followRecipe(recipe)) as Dataset<unknown>;
  return {
    length: dataset.length,
    samples: await dataset.get(indices, { seed: 5, epoch: 2 }),
    files: indices.map((index) => dataset.fileOf(index)),
  };
}
