import { RecordfsError } from "../base/errors.ts";
import { runSync, type Steps } from "../io/concurrency/steps.ts";

/**
 * Thrown by a tree if a result needs a part of the container's index that is not in memory and cannot be read without
 * waiting.
 *
 * Lookups over loaded parts thus return immediately and pay nothing for remote containers. A caller that can wait uses
 * {@linkcode whenLoaded}, which loads the missing part and retries. A tree of local files never throws this.
 */
export class NotLoaded extends RecordfsError {
  /** Loads the missing part; the call may then be retried. */
  readonly load: () => Steps<void>;

  constructor(name: string, load: () => Steps<void>) {
    super(
      "must-wait",
      `Cannot read ${name} at once: a part of its index is not on a local ` +
        "disk or in memory. Use the asynchronous method, which can wait for it",
      { path: name },
    );
    this.load = load;
  }
}

/**
 * Calls a tree, and loads what the result needs. Each retry calls `ask` from its start: a listing must not visit
 * entries twice, so it must continue from its saved cursor.
 *
 * @throws Errors of loading.
 */
export function* whenLoaded<T>(ask: () => T): Steps<T> {
  while (true) {
    try {
      return ask();
    } catch (error) {
      if (!(error instanceof NotLoaded)) throw error;
      yield* error.load();
    }
  }
}

/**
 * Runs a procedure that caches its result, if it can finish without waiting. Otherwise throws {@linkcode NotLoaded},
 * whose `load` runs the procedure. `name` is the file that is read.
 */
export function atOnce<T>(name: string, procedure: () => Steps<T>): T {
  try {
    return runSync(procedure());
  } catch (error) {
    const mustWait = (error as { code?: unknown }).code === "must-wait" &&
      !(error instanceof NotLoaded);
    if (!mustWait) throw error;
    throw new NotLoaded(name, function* () {
      yield* procedure();
    });
  }
}
