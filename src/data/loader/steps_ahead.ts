import type { BatchJob } from "./batch_error.ts";
import type { LoopStart } from "./batches.ts";

/** Number of samples to look ahead. */
const SAMPLES = 256;

/** Takes the steps of an epoch in order and looks ahead. Each step is requested once from the sampler. */
export class StepsAhead {
  readonly #start: LoopStart;
  /** Minimum number of batches to look ahead, however large. */
  readonly #least: number;
  /** Steps looked at but not taken. */
  readonly #seen: BatchJob[] = [];
  #samples = 0;
  /** Step to look at next. */
  #next: number;
  #isBroken = false;

  constructor(start: LoopStart, least: number) {
    this.#start = start;
    this.#least = least;
    this.#next = start.step;
  }

  /** Takes the next step. Throws if the sampler throws for it. */
  take(): BatchJob {
    const seen = this.#seen.shift();
    if (seen === undefined) return this.#lookAt(this.#next);
    this.#samples -= seen.indices.length;
    return seen;
  }

  /** Looks ahead and returns the steps not looked at before. */
  look(): readonly BatchJob[] {
    const found: BatchJob[] = [];
    const { length } = this.#start.order;
    while (
      !this.#isBroken && this.#next < length &&
      (this.#samples < SAMPLES || this.#seen.length < this.#least)
    ) {
      try {
        const job = this.#lookAt(this.#next);
        this.#seen.push(job);
        this.#samples += job.indices.length;
        found.push(job);
      } catch {
        this.#isBroken = true; // `take` throws the error
      }
    }
    return found;
  }

  #lookAt(step: number): BatchJob {
    const { order, epoch } = this.#start;
    const indices = order.at(step);
    this.#next = step + 1;
    return { epoch, step, indices };
  }
}
