import { IndexError } from "../../src/base/errors.ts";
import { Dataset, type GetOptions } from "../../src/data/dataset.ts";
import { RECIPE, type Recipe } from "../../src/data/recipe.ts";

/** Dataset of values in memory that records its reads. */
export class ListDataset<T> extends Dataset<T> {
  readonly length: number;
  /** Batches that were read. */
  readonly reads: { indices: readonly number[]; options: GetOptions }[] = [];
  closed = false;
  readonly #values: readonly T[];
  readonly #file: string | undefined;

  /** @param file File to which {@linkcode fileOf} attributes the samples. */
  constructor(values: readonly T[], file?: string) {
    super();
    this.#values = values;
    this.#file = file;
    this.length = values.length;
  }

  override get(
    indices: readonly number[],
    options: GetOptions = {},
  ): Promise<readonly T[]> {
    this.reads.push({ indices: [...indices], options });
    return Promise.resolve(indices.map((index) => {
      if (index in this.#values) return this.#values[index]!;
      throw new IndexError(index, this.length, "the list");
    }));
  }

  override fileOf(index: number): string | undefined {
    const exists = this.#file !== undefined && index in this.#values;
    return exists ? `${this.#file}#${index}` : undefined;
  }

  override [RECIPE](): Recipe {
    return {
      module: import.meta.url,
      name: "ListDataset",
      how: "new",
      args: [this.#values, this.#file],
    };
  }

  override close(): void {
    this.closed = true;
  }
}

/** Returns the integers from `start` to `stop - 1`. */
export function range(start: number, stop: number): number[] {
  return Array.from({ length: stop - start }, (_, i) => start + i);
}
