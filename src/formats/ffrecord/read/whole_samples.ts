import { IndexError } from "../../../base/errors.ts";
import { isIndex } from "../../../tree/sample_indices.ts";
import { lastUpTo } from "../../../tree/shared_numbers.ts";
import type { SampleIndex } from "./sample_index.ts";

/** Samples that follow each other: from `first` on, before `end`. */
export interface SampleRange {
  readonly first: number;
  readonly end: number;
}

/** Samples of a file that its end cuts off. */
interface CutSamples extends SampleRange {
  readonly path: string;
}

/**
 * The samples of files that their ends do not cut off, as a sequence of its own: files that were cut have fewer than
 * their headers count. The tables have to be loaded as {@linkcode SampleIndex.wholeOf} needs them.
 */
export class WholeSamples {
  /** Number of whole samples. */
  readonly length: number;
  /** The whole samples of each file. */
  readonly ranges: readonly SampleRange[];
  /** Samples that are cut off, of each file that has such. */
  readonly cut: readonly CutSamples[];
  /** Per file: the number of its first sample among the whole ones. */
  readonly #starts: readonly number[];
  readonly #name: string;

  constructor(index: SampleIndex) {
    const ranges: SampleRange[] = [];
    const cut: CutSamples[] = [];
    const starts: number[] = [];
    let length = 0;
    for (const [part, { count, path }] of index.shards.entries()) {
      const first = index.firsts[part]!;
      const end = first + index.wholeOf(part);
      ranges.push({ first, end });
      if (end < first + count) {
        cut.push({ path, first: end, end: first + count });
      }
      starts.push(length);
      length += end - first;
    }
    this.length = length;
    this.#name = index.name;
    this.ranges = ranges;
    this.cut = cut;
    this.#starts = starts;
  }

  /**
   * The index of a whole sample among all samples.
   *
   * @throws {IndexError} If there is no such sample.
   */
  indexOf(whole: number): number {
    if (this.cut.length === 0) return whole; // its reader looks at it
    if (!isIndex(whole, this.length)) {
      throw new IndexError(whole, this.length, this.#name);
    }
    const part = lastUpTo(this.#starts, whole);
    return this.ranges[part]!.first + whole - this.#starts[part]!;
  }

  /** Whether a sample is cut off. */
  isCut(index: number): boolean {
    return this.cut.some(({ first, end }) => index >= first && index < end);
  }

  /** A line for each file that was cut. */
  get lines(): string[] {
    return this.cut.map(({ path, first, end }) =>
      `${path}: ${
        end - first === 1 ? "1 sample" : `${end - first} samples`
      } from ${first} on cannot be read: the file is truncated; fetch it again`
    );
  }
}
