import { RecordfsError } from "../../base/errors.ts";

/**
 * The error of a call that does not wait, about something that has to be waited for.
 *
 * @param name The file or container that it is about.
 */
export function mustWait(name: string): RecordfsError {
  return new RecordfsError(
    "must-wait",
    `${name} is not on a local disk or in memory: use the asynchronous method, which can wait for it`,
    { path: name },
  );
}
