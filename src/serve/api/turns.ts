import type { Steps } from "../../io/concurrency/steps.ts";
import { waitFor } from "../wait_for.ts";

/** Time slice in milliseconds. A request takes several slices. */
const LONGEST_WORK = 4;

/** Yields to the event loop periodically, so that long counts do not delay other requests. */
export class Turns {
  #last = performance.now();

  async give(): Promise<void> {
    if (!this.areDue) return;
    // An immediate would run before incoming data is handled; a timer runs after it.
    await new Promise((resolve) => setTimeout(resolve, 0));
    this.#last = performance.now();
  }

  /** Same as {@linkcode Turns.give}, as a step of a procedure. */
  *step(): Steps<void> {
    if (this.areDue) yield* waitFor(() => this.give());
  }

  /** Whether the time slice is used up. Checking is cheaper than awaiting a resolved promise. */
  get areDue(): boolean {
    return performance.now() - this.#last > LONGEST_WORK;
  }
}
