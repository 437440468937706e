import { IndexError } from "../base/errors.ts";
import { DataError } from "./data_error.ts";
import {
  Dataset,
  type GetOptions,
  miscounted,
  tellDataset,
} from "./dataset.ts";
import { argument } from "./recipe.ts";
import { isIndex } from "../tree/sample_indices.ts";

interface Part {
  readonly indices: number[];
  readonly places: number[];
}

/**
 * A dataset that rearranges the samples of other datasets. A batch takes one read for each part that it has samples
 * of.
 *
 * @typeParam T What one sample is.
 */
export abstract class ArrangedDataset<T> extends Dataset<T> {
  /** Whether the origin of a sample depends on the seed and the epoch. */
  protected readonly isDrawn: boolean = false;
  readonly #sources: readonly Dataset<T>[];

  /**
   * Makes the dataset.
   *
   * @param sources Datasets to read from; closed with this one.
   */
  constructor(sources: readonly Dataset<T>[]) {
    super();
    this.#sources = [...sources];
  }

  /**
   * Reads a batch.
   *
   * @param steps Steps from 0 to `length - 1`: any number, in any order, repeats allowed.
   * @returns The samples in the order of `steps`.
   * @throws {IndexError} If there is no such sample.
   * @throws {DataError} With code `bad-batch` if a source returns more or fewer samples than requested.
   */
  override async get(
    steps: readonly number[],
    options: GetOptions = {},
  ): Promise<readonly T[]> {
    for (const step of steps) {
      if (!isIndex(step, this.end)) throw this.missing(step);
    }
    const parts = this.#partsOf(steps, options);
    // Wait for all reads, even if one fails: the caller may reuse the memory that they read into.
    const ends = await Promise.allSettled(
      Array.from(parts, async ([key, { indices }]) => {
        const [source, told] = this.partOf(key, options);
        return wholeBatch(await source.get(indices, told), indices);
      }),
    );
    const answers = ends.map((end) => {
      if (end.status === "rejected") throw end.reason;
      return end.value;
    });
    if (answers.length === 1) return answers[0]!;
    const samples = new Array<T>(steps.length);
    for (const [i, { places }] of [...parts.values()].entries()) {
      places.forEach((place, j) => samples[place] = answers[i]![j]!);
    }
    return samples;
  }

  /** Shard lengths of all sources; `undefined` if no source knows them. */
  override get shardLengths(): readonly number[] | undefined {
    const known = this.#sources.flatMap(({ shardLengths = [] }) =>
      shardLengths
    );
    return known.length === 0 ? undefined : known;
  }

  /** Forwards the prefetch hint to each source. */
  override prefetch(
    steps: readonly number[],
    options: GetOptions = {},
  ): number {
    const known = steps.filter((step) => isIndex(step, this.end));
    let bytes = 0;
    for (const [key, { indices }] of this.#partsOf(known, options)) {
      const [source, told] = this.partOf(key, options);
      bytes += tellDataset(source, indices, told);
    }
    return bytes;
  }

  /** Returns the file that contains a sample; `undefined` if the sample is drawn and `options` are missing. */
  override fileOf(step: number, options?: GetOptions): string | undefined {
    if (options === undefined && this.isDrawn || !isIndex(step, this.end)) {
      return undefined;
    }
    const { part, index } = this.placeOf(step, options ?? {});
    const [source, told] = this.partOf(part, options ?? {});
    return source.fileOf(index, options && told);
  }

  /** Closes the sources. */
  override close(): void {
    for (const source of this.#sources) source.close();
  }

  #partsOf(steps: readonly number[], options: GetOptions): Map<number, Part> {
    const parts = new Map<number, Part>();
    steps.forEach((step, place) => {
      const { part: key, index } = this.placeOf(step, options);
      let part = parts.get(key);
      if (part === undefined) {
        part = { indices: [], places: [] };
        parts.set(key, part);
      }
      part.indices.push(index);
      part.places.push(place);
    });
    return parts;
  }

  /** Returns the origin of the sample of a step. */
  protected abstract placeOf(step: number, options: GetOptions): {
    /** Key of the read that the sample belongs to: the number of its source, unless a class overrides it. */
    readonly part: number;
    /** Index of the sample in its source. */
    readonly index: number;
  };

  /** Returns the source of a part, and the options to read it with. By default, the part is the source's number. */
  protected partOf(
    part: number,
    options: GetOptions,
  ): readonly [source: Dataset<T>, options: GetOptions] {
    return [this.#sources[part]!, options];
  }

  /** End of valid steps: `length`, unless steps wrap around. */
  protected get end(): number {
    return this.length;
  }

  /** Returns the error for a step that is out of range. */
  protected missing(step: number): IndexError {
    return new IndexError(step, this.end, this.constructor.name, 0, "step");
  }

  /**
   * Returns the sources as arguments of a recipe.
   *
   * @param what Name of a source in messages. Its number is appended unless the name starts with `The`.
   * @throws {DataError} With code `not-portable` if a source cannot be constructed in another thread.
   */
  protected sourceArguments(what: string): unknown[] {
    return this.#sources.map((source, i) => {
      const which = what.startsWith("The ") ? what : `${what} ${i}`;
      return argument(source, `${which} of ${this.constructor.name}`);
    });
  }
}

/** @throws {DataError} With code `bad-batch` unless there is one sample for each index. */
export function wholeBatch<T>(
  samples: readonly T[],
  indices: readonly number[],
): readonly T[] {
  const wrong = miscounted(samples, indices);
  if (wrong === undefined) return samples;
  throw new DataError(
    "bad-batch",
    `Cannot make a batch of ${indices.length} samples: a dataset gave ` +
      `${wrong}. Its ` + "`get` must give one for each index",
    { expected: indices.length, actual: samples?.length },
  );
}
