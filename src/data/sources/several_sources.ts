import type { Dataset, GetOptions } from "../dataset.ts";
import { argument } from "../recipe.ts";
import { BatchParts } from "../batch_parts.ts";

/** Where the sample of a step is: a step of one of several sources. */
export interface Place {
  /** Which of the sources. */
  readonly source: number;
  /** Which step of it. */
  readonly step: number;
}

/** The sources that another is made of. */
export class SeveralSources<T> {
  /** How many there are. */
  readonly count: number;
  readonly #sources: readonly Dataset<T>[];
  readonly #of: string;

  /**
   * @param of What is made of them, for messages.
   * @throws {RangeError} If there is none.
   */
  constructor(sources: readonly Dataset<T>[], of: string) {
    if (sources.length === 0) {
      throw new RangeError(`${of} needs at least one source`);
    }
    this.count = sources.length;
    this.#sources = [...sources];
    this.#of = of;
  }

  /** How many samples each has. */
  get lengths(): number[] {
    return this.#sources.map(({ length }) => length);
  }

  /** Reads samples: each source that has any of them once. */
  async get(
    places: readonly Place[],
    options: GetOptions,
  ): Promise<readonly T[]> {
    const parts = new BatchParts();
    for (const { source, step } of places) parts.add(source, step);
    return await parts.read((source, steps) =>
      this.#sources[source]!.get(steps, options)
    );
  }

  /** The file that a sample lies in. */
  fileOf({ source, step }: Place, options?: GetOptions): string | undefined {
    return this.#sources[source]!.fileOf(step, options);
  }

  /** The sources as an argument of a recipe. */
  arguments(): unknown[] {
    return this.#sources.map((source, i) =>
      argument(source, `Source ${i} of ${this.#of}`)
    );
  }

  /** Closes all of them. */
  close(): void {
    for (const source of this.#sources) source.close();
  }
}
