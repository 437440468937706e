/** The thread of {@linkcode inThread}: makes what a recipe says, and reads a batch of it. */
import type { Dataset } from "../../../src/data/dataset.ts";
import {
  importThreadModules,
  type ThreadModule,
} from "../../../src/io/concurrency/thread_modules.ts";
import { followRecipe, type Recipe } from "../../../src/data/recipe.ts";

/** What the thread is told. */
export interface Order {
  readonly recipe: Recipe;
  readonly indices: readonly number[];
  readonly modules: readonly ThreadModule[];
}

/** What it answers. */
export interface Answer {
  readonly length: number;
  readonly samples: readonly unknown[];
  readonly files: readonly (string | undefined)[];
}

/** What it answers where that failed. */
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
