import { listFiles } from "../data/datasets/file_list.ts";
import { listedFiles } from "../data/datasets/file_samples.ts";
import { formats, loadFormat } from "../formats/registry.ts";
import type { SampleDecoders } from "../codecs/file_values.ts";
import { runSync } from "../io/concurrency/steps.ts";
import { loadDecompression } from "./compressed.ts";
import type { ContainerLocation, SeveralLocations } from "./location.ts";
import type { OpenContainerOptions } from "./open.ts";
import { loadNested } from "./open_shown.ts";
import { openAll } from "./open_several.ts";
import {
  type OpenSamplesOptions,
  placeOfSamples,
  samplesOf,
} from "./samples/open_samples.ts";
import { requireImported } from "./samples/shareable_decoders.ts";
import type { OpenedSamples } from "./samples/opened_samples.ts";
import type { SampleValues } from "../tree/samples/samples.ts";
import type { VirtualFs } from "../tree/vfs/virtual_fs.ts";

// Synchronous code cannot wait for what is loaded when it is needed.
await Promise.all([
  ...formats().map(loadFormat),
  loadDecompression(),
  loadNested(),
]);

/** Synchronous {@linkcode open}, for containers on a local disk or in memory. */
export function openSync(
  location: ContainerLocation | SeveralLocations,
  options: OpenContainerOptions = {},
): VirtualFs {
  return runSync(openAll(location, options));
}

/** Synchronous {@linkcode openSamples}, for containers on a local disk or in memory. */
export function openSamplesSync<
  D extends object = SampleValues,
  R extends object = SampleValues,
>(
  location: ContainerLocation,
  { fields, decoders, ...options }:
    & Omit<OpenSamplesOptions, "decoders" | "files" | "paths">
    & {
      /** Decoders as those of `openSamples`; other threads can import only those of a module. */
      readonly decoders?: SampleDecoders | undefined;
    } = {},
): OpenedSamples<D, R> {
  requireImported(decoders);
  const place = placeOfSamples(location, options);
  const fs = openSync(place.path, place.options);
  try {
    const files = fs.samples === undefined
      ? runSync(listedFiles(fs.tree, listFiles(fs.tree, () => true)))
      : undefined;
    return samplesOf(fs, files, place, { fields, decoders });
  } catch (error) {
    fs.close();
    throw error;
  }
}
