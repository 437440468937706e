import { RecordfsError } from "../../base/errors.ts";

/** Makes the error of a synchronous call on data that must be waited for. */
export function mustWait(name: string): RecordfsError {
  return new RecordfsError(
    "must-wait",
    `${name} is not on a local disk or in memory: use the asynchronous method, which can wait for it`,
    { path: name },
  );
}
