import type { Column } from "../../io/index_cache/tables_format.ts";
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

/** Returns cached spans; `undefined` if they do not fit a file of that size: they are not trusted. */
export function spansOf(
  { starts, ends }: Readonly<Record<string, Column>>,
  size: number,
): RecordSpans | undefined {
  let before = 0;
  if (starts === undefined || starts.length !== ends?.length) return undefined;
  for (let i = 0; i < starts.length; i++) {
    if (!(starts[i]! >= before && ends[i]! >= starts[i]!)) return undefined;
    before = ends[i]!;
  }
  const spans = { starts: starts as WholeNumbers, ends: ends as WholeNumbers };
  return before <= size ? spans : undefined;
}
