import { formatNamed } from "../../formats/registry.ts";
import type { ContainerInfo, CountedSamples } from "../../tree/format.ts";

/** Counts the samples of a container: its files, unless its format has samples of its own. */
export function countSamples(info: ContainerInfo): CountedSamples {
  return formatNamed(info.format).countSamples?.(info) ??
    { unit: "files", length: info.files };
}
