import { unnumbered } from "../../formats/gulp/check/faults.ts";
import type { ContainerInfo } from "../../tree/format.ts";

/** What the indices of a container's dataset count. */
export type SampleUnit = "datapoints" | "files" | "samples" | "videos";

/** The samples of a container, as its dataset numbers them. */
export interface CountedSamples {
  readonly unit: SampleUnit;
  readonly length: number;
}

/**
 * Counts the samples of a container. Videos that it leaves out, since they are damaged, have their numbers.
 *
 * @throws {FormatError} If whole chunks of videos are left out.
 */
export function countSamples(
  { kind, files, facts, parts }: ContainerInfo,
): CountedSamples {
  if (facts?.videos !== undefined) {
    const { videos, badVideos = 0, badChunks = 0 } = facts;
    if (badChunks > 0) throw unnumbered(parts[0]!.path);
    return { unit: "videos", length: videos + badVideos };
  }
  if (facts?.datapoints !== undefined) {
    return { unit: "datapoints", length: facts.datapoints };
  }
  const areNumbered = kind === "bag" || kind.startsWith("samples");
  return { unit: areNumbered ? "samples" : "files", length: files };
}
