import type { ContainerInfo } from "../../tree/format.ts";

/** What the indices of a container's dataset count. */
export type SampleUnit = "datapoints" | "files" | "samples" | "videos";

/** The samples of a container, as its dataset numbers them. */
export interface CountedSamples {
  readonly unit: SampleUnit;
  readonly length: number;
}

/** Counts the samples of a container. */
export function countSamples(
  { kind, files, facts }: ContainerInfo,
): CountedSamples {
  if (facts?.videos !== undefined) {
    return { unit: "videos", length: facts.videos };
  }
  if (facts?.datapoints !== undefined) {
    return { unit: "datapoints", length: facts.datapoints };
  }
  const areNumbered = kind === "bag" || kind.startsWith("samples");
  return { unit: areNumbered ? "samples" : "files", length: files };
}
