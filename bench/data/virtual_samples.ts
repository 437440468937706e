import { Dataset } from "../../src/open/data/mod.ts";

/** Dataset whose samples are their own indices, to measure the cost of the loader itself. */
export class VirtualSamples extends Dataset<number> {
  override readonly length: number;

  constructor(length: number) {
    super();
    this.length = length;
  }

  override get(indices: readonly number[]): readonly number[] {
    return indices;
  }
}
