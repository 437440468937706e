import type { Steps } from "../../io/concurrency/steps.ts";
import { waitFor } from "../wait_for.ts";

/** How long is counted before others are answered, in milliseconds: a request takes several turns. */
const LONGEST_WORK = 4;

/** Gives the event loop its turn now and then: who counts for minutes leaves others their answers. */
export class Turns {
  #last = performance.now();

  /** Lets it go round, where it is time. */
  async give(): Promise<void> {
    if (!this.areDue) return;
    // An immediate comes before what connections have sent; a timer comes behind.
    await new Promise((resolve) => setTimeout(resolve, 0));
    this.#last = performance.now();
  }

  /** The same as a step of a procedure. */
  *step(): Steps<void> {
    if (this.areDue) yield* waitFor(() => this.give());
  }

  /** Whether it is time: asking costs less than waiting for nothing. */
  get areDue(): boolean {
    return performance.now() - this.#last > LONGEST_WORK;
  }
}
