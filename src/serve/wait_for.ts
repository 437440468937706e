import { perform, type Steps } from "../io/concurrency/steps.ts";
import { mustWait } from "../io/storage/must_wait.ts";

/** Effect that must be awaited: requests are never handled synchronously if that would block. */
export function waitFor<T>(
  ask: (signal: AbortSignal | undefined) => Promise<T>,
): Steps<T> {
  return perform({
    sync() {
      throw mustWait("this answer");
    },
    async: ask,
  });
}
