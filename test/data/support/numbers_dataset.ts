import { Dataset, type GetOptions } from "../../../src/data/dataset.ts";
import { RECIPE, type Recipe } from "../../../src/data/recipe.ts";

/** Samples of their own index, seed and epoch; any number of them takes no memory. */
export class NumbersDataset extends Dataset<[number, number, number]> {
  override readonly length: number;

  constructor(length: number) {
    super();
    this.length = length;
  }

  override get(
    indices: readonly number[],
    { seed = 0, epoch = 0 }: GetOptions = {},
  ): [number, number, number][] {
    return indices.map((index) => [index, seed, epoch]);
  }

  override fileOf(index: number): string {
    return `numbers_${Math.floor(index / 10)}`;
  }

  override [RECIPE](): Recipe {
    const { length } = this;
    return {
      module: import.meta.url,
      name: "NumbersDataset",
      how: "new",
      args: [length],
    };
  }
}
