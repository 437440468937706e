import { formats } from "../../formats/registry.ts";
import type { ContainerInfo, CountedSamples } from "../../tree/format.ts";

/** Counts the samples of a container: its files, unless its format has samples of its own. */
export function countSamples(info: ContainerInfo): CountedSamples {
  // A plain directory whose containers show is of no format.
  const format = formats().find(({ name }) => name === info.format);
  return format?.countSamples?.(info) ??
    { unit: "files", length: info.files };
}
