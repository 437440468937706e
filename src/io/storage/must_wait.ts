import { RecordfsError } from "../../base/errors.ts";

/** Makes the error of a synchronous call on data that must be waited for. */
export function mustWait(name: string): RecordfsError {
  return new RecordfsError(
    "must-wait",
    `Cannot read ${name} synchronously: it is not on a local disk or in memory. Call the asynchronous method`,
    { path: name },
  );
}
