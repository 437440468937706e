import { IndexError } from "../../../base/errors.ts";
import { isIndex } from "../../../tree/sample_indices.ts";
import { lastUpTo } from "../../../tree/shared_numbers.ts";
import type { SampleIndex } from "./sample_index.ts";

/** `end` is exclusive. */
export interface SampleRange {
  readonly first: number;
  readonly end: number;
}

interface CutSamples extends SampleRange {
  readonly path: string;
}

/**
 * Samples that are not truncated, numbered consecutively: truncated files have fewer samples than their headers count.
 * The tables must be loaded as {@linkcode SampleIndex.wholeOf} needs them.
 */
export class WholeSamples {
  readonly length: number;
  /** By file. */
  readonly ranges: readonly SampleRange[];
  /** By file; only files that have such. */
  readonly cut: readonly CutSamples[];
  /** Index of each file's first sample among the whole ones. */
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

  /** Converts a whole sample's index to that among all samples; throws an {@linkcode IndexError} if out of range. */
  indexOf(whole: number): number {
    if (this.cut.length === 0) return whole; // the caller checks it
    if (!isIndex(whole, this.length)) {
      throw new IndexError(whole, this.length, this.#name);
    }
    const part = lastUpTo(this.#starts, whole);
    return this.ranges[part]!.first + whole - this.#starts[part]!;
  }

  isCut(index: number): boolean {
    return this.cut.some(({ first, end }) => index >= first && index < end);
  }

  get lines(): string[] {
    return this.cut.map(({ path, first, end }) =>
      "Cannot read " +
      `${end - first === 1 ? "1 sample" : `${end - first} samples`} from ` +
      `${first} on of ${path}: the file is truncated. Download it again`
    );
  }
}
