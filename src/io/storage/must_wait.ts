import { RecordfsError } from "../../base/errors.ts";
import { perform, type Steps } from "../concurrency/steps.ts";

/** Makes the error of a synchronous call on data that must be waited for. */
export function mustWait(name: string): RecordfsError {
  return new RecordfsError(
    "must-wait",
    `Cannot read ${name} synchronously: it is not on a local disk or in memory. Call the asynchronous method`,
    { path: name },
  );
}

/**
 * Loads code that the data of `name` need, unless that is done. Without waiting, throws `must-wait` instead.
 */
export function* whenReady(
  name: string,
  isReady: () => boolean,
  load: () => Promise<void>,
): Steps<void> {
  if (isReady()) return;
  yield* perform({
    sync() {
      throw mustWait(name);
    },
    async: load,
  });
}
