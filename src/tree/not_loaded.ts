import { RecordfsError } from "../base/errors.ts";
import { runSync, type Steps } from "../io/concurrency/steps.ts";

/**
 * Thrown by a tree where an answer needs a part of the container's index that is not in memory and can't
 * be read without waiting.
 *
 * So lookups answer at once over what is loaded, and pay nothing for containers that are far away:
 * who can wait asks by {@linkcode whenLoaded}, which loads what is missing and asks again. A tree
 * whose files are local never throws this.
 */
export class NotLoaded extends RecordfsError {
  /** Fetches what was missing; the question may then be asked again. */
  readonly load: () => Steps<void>;

  /** @param name The file that part of the index is in. */
  constructor(name: string, load: () => Steps<void>) {
    super(
      "must-wait",
      `A part of the index of ${name} is not on a local disk or in memory: ` +
        `use the asynchronous method, which can wait for it`,
      { path: name },
    );
    this.load = load;
  }
}

/**
 * Asks a tree, and loads what the answer needs. The question is asked again from its start: what a
 * listing has told its visitor before must not be told twice, so its cursor goes on where it was.
 *
 * @throws What loading throws.
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
 * Runs a procedure that keeps what it makes, where that takes no waiting.
 *
 * @param name What is read.
 * @throws {NotLoaded} If it takes some; loading runs the procedure.
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
