import { Dataset, type GetOptions } from "../../../src/data/dataset.ts";
import { IndexError } from "../../../src/base/errors.ts";

/** Dataset of a list of samples that records requests. */
export class ListDataset<T> extends Dataset<T> {
  /** Requested batches. */
  readonly asked: number[][] = [];
  /** Options of each request. */
  readonly options: (GetOptions | undefined)[] = [];
  /** Whether it was closed. */
  closed = false;
  readonly #samples: readonly T[];

  constructor(samples: readonly T[]) {
    super();
    this.#samples = samples;
  }

  override get length(): number {
    return this.#samples.length;
  }

  override get(indices: readonly number[], options?: GetOptions): T[] {
    this.asked.push([...indices]);
    this.options.push(options);
    return indices.map((index) => {
      if (index in this.#samples) return this.#samples[index]!;
      throw new IndexError(index, this.length, "a list");
    });
  }

  override fileOf(index: number): string | undefined {
    return index in this.#samples ? `/file/${this.#samples[index]}` : undefined;
  }

  override close(): void {
    this.closed = true;
  }
}
