import { perform, type Steps } from "../io/concurrency/steps.ts";
import { mustWait } from "../io/storage/must_wait.ts";

/** A step that is waited for: requests are never answered without waiting where they need to. */
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
