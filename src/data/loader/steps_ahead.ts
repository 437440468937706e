import type { BatchJob } from "./batch_error.ts";
import type { LoopStart } from "./batches.ts";

/** Samples that are looked ahead for. */
const SAMPLES = 256;

/** Takes the steps of an epoch one after the other, and looks ahead which come next; each is asked for once. */
export class StepsAhead {
  readonly #start: LoopStart;
  /** Batches that are looked ahead for, however large. */
  readonly #least: number;
  /** What was looked at and not taken, and its number of samples. */
  readonly #seen: BatchJob[] = [];
  #samples = 0;
  /** The step that is looked at next. */
  #next: number;
  #isBroken = false;

  constructor(start: LoopStart, least: number) {
    this.#start = start;
    this.#least = least;
    this.#next = start.step;
  }

  /**
   * The next step.
   *
   * @throws What the sampler throws for it.
   */
  take(): BatchJob {
    const seen = this.#seen.shift();
    if (seen === undefined) return this.#lookAt(this.#next);
    this.#samples -= seen.indices.length;
    return seen;
  }

  /** Looks at steps that come later; returns those that were not looked at before. */
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
        this.#isBroken = true; // whoever takes it is told
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
