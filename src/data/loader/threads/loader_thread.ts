import { DataError } from "../../data_error.ts";

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
export function refuseInLoaderThread(): void {
  if (!isLoaderThread) return;
  throw new DataError(
    "not-portable",
    `A loader's worker thread has been asked to start worker threads: it runs the module that it imports, and ` +
      `that makes a loader. Put what threads need into a module of its own, or what the program does into ` +
      `if (import.meta.main) { … }`,
  );
}
