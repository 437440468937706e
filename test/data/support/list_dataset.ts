import { Dataset, type GetOptions } from "../../../src/data/dataset.ts";
import { IndexError } from "../../../src/base/errors.ts";

/** A dataset of what it is given, that tells what it was asked for. */
export class ListDataset<T> extends Dataset<T> {
  /** The batches that it was asked for. */
  readonly asked: number[][] = [];
  /** What it was asked with. */
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
