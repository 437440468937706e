import { DataError } from "../../data_error.ts";
import type { Dataset } from "../../dataset.ts";
import { importedRecipe, isPortable, RECIPE } from "../../recipe.ts";
import { threadModules } from "../../../io/concurrency/thread_modules.ts";
import type { LoaderSettings } from "../loader_options.ts";
import type { ThreadSetup } from "./messages.ts";

/** Setup that all threads of a loader have in common. */
export type CommonSetup = Omit<ThreadSetup, "worker" | "decodeMemory">;

/**
 * What the loader's threads are started with.
 *
 * @throws {DataError} With code `not-portable` if they cannot make the dataset, or find what collates.
 */
export function threadSetupOf(
  dataset: Dataset<unknown>,
  { collate, seed, workerInit, numWorkers, shared, skips }: LoaderSettings,
): CommonSetup {
  refuseInLoaderThread();
  const recipe = isPortable(dataset) ? dataset[RECIPE]() : undefined;
  if (recipe === undefined) {
    throw new DataError(
      "not-portable",
      `The loader's worker threads cannot make a ${dataset.constructor.name}: export a function that does, ` +
        `and give its module to datasetFrom(), or load with numWorkers: 0`,
    );
  }
  return {
    numWorkers,
    modules: threadModules(),
    dataset: recipe,
    length: dataset.length,
    collate: collate && importedRecipe(collate, "The option 'collate'"),
    seed,
    skips,
    shared,
    init: workerInit && importedRecipe(workerInit, "The option 'workerInit'"),
  };
}

let isLoaderThread = false;

/** Says that this is a thread of a loader. */
export function markLoaderThread(): void {
  isLoaderThread = true;
}

/**
 * Refuses a loader with threads in a thread of a loader. There it is the program itself, run again because
 * a function was to be imported from it; each thread would start others, without end.
 *
 * @throws {DataError} With code `not-portable`.
 */
function refuseInLoaderThread(): void {
  if (!isLoaderThread) return;
  throw new DataError(
    "not-portable",
    `A loader's worker thread has been asked to start worker threads: it runs the module that it imports, and ` +
      `that makes a loader. Put what threads need into a module of its own, or what the program does into ` +
      `if (import.meta.main) { … }`,
  );
}
