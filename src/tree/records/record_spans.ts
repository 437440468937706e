import { GrowingNumbers } from "../growing_numbers.ts";
import type { WholeNumbers } from "../shared_numbers.ts";

/** Starts and ends of a file's records, in shared memory. */
export interface RecordSpans {
  readonly starts: WholeNumbers;
  readonly ends: WholeNumbers;
}

/** Collects the spans of the records of a file. */
export class GrowingSpans {
  readonly #starts: GrowingNumbers;
  readonly #ends: GrowingNumbers;

  /** @param size Size of the file in bytes. */
  constructor(size: number) {
    this.#starts = new GrowingNumbers(size + 1);
    this.#ends = new GrowingNumbers(size + 1);
  }

  get length(): number {
    return this.#starts.length;
  }

  push(start: number, end: number): void {
    this.#starts.push(start);
    this.#ends.push(end);
  }

  finish(): RecordSpans {
    return { starts: this.#starts.finish(), ends: this.#ends.finish() };
  }
}

/** Whether spans fit a file of that size: cached tables are not trusted. */
export function fitFile(
  { starts, ends }: Partial<RecordSpans>,
  size: number,
): boolean {
  if (starts === undefined || starts.length !== ends?.length) return false;
  let before = 0;
  for (let i = 0; i < starts.length; i++) {
    if (!(starts[i]! >= before && ends[i]! >= starts[i]!)) return false;
    before = ends[i]!;
  }
  return before <= size;
}
