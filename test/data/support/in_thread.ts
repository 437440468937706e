import assert from "node:assert/strict";
import type { Dataset } from "../../../src/data/dataset.ts";
import { threadModules } from "../../../src/io/concurrency/thread_modules.ts";
import { RECIPE } from "../../../src/data/recipe.ts";
import type { Answer, Failure, Order } from "./reader_thread.ts";

/** Makes a dataset again in another thread, and reads a batch from it there. */
export async function inThread(
  dataset: Dataset<unknown>,
  indices: readonly number[],
): Promise<Answer | Failure> {
  const recipe = dataset[RECIPE]();
  assert.ok(recipe !== undefined);
  const url = new URL("reader_thread.ts", import.meta.url);
  const worker = new Worker(url, { type: "module" });
  try {
    return await new Promise((resolve, reject) => {
      worker.onmessage = ({ data }) => resolve(data);
      worker.onerror = (event) => reject(new Error(event.message));
      const modules = threadModules();
      worker.postMessage({ recipe, indices, modules } satisfies Order);
    });
  } finally {
    worker.terminate();
  }
}

/** Asserts that a dataset made in another thread reads the same as here. */
export async function assertPortable(
  dataset: Dataset<unknown>,
  indices: readonly number[],
): Promise<void> {
  assert.deepEqual(await inThread(dataset, indices), {
    length: dataset.length,
    samples: structuredClone(
      await dataset.get(indices, { seed: 5, epoch: 2 }),
    ),
    files: indices.map((index) => dataset.fileOf(index)),
  });
}
