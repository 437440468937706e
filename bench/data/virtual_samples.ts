import { Dataset } from "../../src/open/data/mod.ts";

/** Any number of samples that are their own indices: what a loader itself costs. */
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
