import { DataError } from "../../data_error.ts";
import type { Dataset } from "../../dataset.ts";
import { importedRecipe, isPortable, RECIPE } from "../../recipe.ts";
import { threadModules } from "../../../io/concurrency/thread_modules.ts";
import type { LoaderSettings } from "../loader_options.ts";
import type { ThreadSetup } from "./messages.ts";

export type CommonSetup = Omit<ThreadSetup, "worker" | "decodeMemory">;

/**
 * Returns the setup of the loader's threads.
 *
 * @throws {DataError} With code `not-portable` if they cannot construct the dataset, or import the collating
 * function.
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
      `Cannot send a ${dataset.constructor.name} to the loader's worker ` +
        "threads: they cannot make it. Export a function that does, and give its module " +
        "to datasetFrom(), or load with numWorkers: 0",
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

export function markLoaderThread(): void {
  isLoaderThread = true;
}

/**
 * Rejects a loader with threads inside a loader thread. That happens when the thread imports the program itself, to
 * get a function from it, and so runs it again; each thread would start others, without end.
 *
 * @throws {DataError} With code `not-portable`.
 */
function refuseInLoaderThread(): void {
  if (!isLoaderThread) return;
  throw new DataError(
    "not-portable",
    "Cannot start worker threads in a loader's worker thread: the module that it imports " +
      "makes a loader. Put the functions that threads need into a module of their own, or " +
      "the main program into if (import.meta.main) { … }",
  );
}
