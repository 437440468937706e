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

/** Where a sample is taken from. */
export interface SamplePlace {
  /** Which part of a batch it belongs to: unless a class says otherwise, the number of its source. */
  readonly part: number;
  /** Its index there. */
  readonly index: number;
}

/** Part of a batch that one read answers: which samples, and where in the batch they stand. */
interface Part {
  readonly indices: number[];
  readonly places: number[];
}

/**
 * A dataset whose samples are those of other datasets, in another order. A batch is one read for each
 * part that it has samples of.
 *
 * @typeParam T What one sample is.
 */
export abstract class ArrangedDataset<T> extends Dataset<T> {
  /** True if where samples are taken from depends on what they are read for. */
  protected readonly isDrawn: boolean = false;
  readonly #sources: readonly Dataset<T>[];

  /**
   * Takes sources.
   *
   * @param sources They are closed with this one.
   */
  constructor(sources: readonly Dataset<T>[]) {
    super();
    this.#sources = [...sources];
  }

  /**
   * Reads a batch.
   *
   * @param steps From 0 to `length - 1`: any number, in any order, repeats allowed.
   * @returns The samples in the order of `steps`.
   * @throws {IndexError} If there is no such sample.
   * @throws {DataError} With code `bad-batch` if a source gives more samples, or fewer.
   */
  override async get(
    steps: readonly number[],
    options: GetOptions = {},
  ): Promise<readonly T[]> {
    for (const step of steps) {
      if (!isIndex(step, this.end)) throw this.missing(step);
    }
    const parts = this.#partsOf(steps, options);
    // All reads have ended when this does, even where one fails: what they read into may be used again.
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

  /** Those of all sources; `undefined` if none knows them. */
  override get shardLengths(): readonly number[] | undefined {
    const known = this.#sources.flatMap(({ shardLengths = [] }) =>
      shardLengths
    );
    return known.length === 0 ? undefined : known;
  }

  /** Tells each source what will be read of it. */
  override expect(steps: readonly number[], options: GetOptions = {}): number {
    const known = steps.filter((step) => isIndex(step, this.end));
    let bytes = 0;
    for (const [key, { indices }] of this.#partsOf(known, options)) {
      const [source, told] = this.partOf(key, options);
      bytes += tellDataset(source, indices, told);
    }
    return bytes;
  }

  /** The file that a sample lies in; of what is drawn, where it is said what the step is read for. */
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

  /** What is read of steps at once, by part. */
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

  /** Where the sample of a step is taken from. */
  protected abstract placeOf(step: number, options: GetOptions): SamplePlace;

  /** Source of a part, and the purpose of reading it: the one of that number, as the whole is asked. */
  protected partOf(
    part: number,
    options: GetOptions,
  ): readonly [source: Dataset<T>, options: GetOptions] {
    return [this.#sources[part]!, options];
  }

  /** Where steps end; `length` unless it goes on behind that. */
  protected get end(): number {
    return this.length;
  }

  /** The error for a step that there is not. */
  protected missing(step: number): IndexError {
    return new IndexError(step, this.end, this.constructor.name, 0, "step");
  }

  /**
   * The sources as arguments of a recipe.
   *
   * @param what What messages call one; its number comes behind that where there may be several.
   * @throws {DataError} With code `not-portable` if one cannot go to another thread.
   */
  protected sourceArguments(what: string): unknown[] {
    return this.#sources.map((source, i) => {
      const which = what.startsWith("The ") ? what : `${what} ${i}`;
      return argument(source, `${which} of ${this.constructor.name}`);
    });
  }
}

/**
 * The answer of a source, which has one sample for each index.
 *
 * @throws {DataError} With code `bad-batch` if it has not.
 */
export function wholeBatch<T>(
  samples: readonly T[],
  indices: readonly number[],
): readonly T[] {
  const wrong = miscounted(samples, indices);
  if (wrong === undefined) return samples;
  throw new DataError(
    "bad-batch",
    `A dataset gave ${wrong} where it was asked for ${indices.length}: its \`get\` ` +
      "must give one for each index",
    { expected: indices.length, actual: samples?.length },
  );
}
