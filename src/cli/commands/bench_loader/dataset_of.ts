import { codecAskedBy } from "../../../codecs/image/choose_codec.ts";
import type { Dataset } from "../../../data/dataset.ts";
import { openDataset } from "../../../open/data/open_dataset.ts";
import { countSamples } from "../../../open/data/counted_samples.ts";
import { formatNamed, formats, loadFormat } from "../../../formats/registry.ts";
import type { SampleUnit } from "../../../tree/format.ts";
import { UsageError } from "../../exit.ts";
import type { CommonOptions } from "../../input/options.ts";
import { remoteOf } from "../../input/remote_flags.ts";
import { openSource } from "../../input/source.ts";

export interface OpenedDataset {
  readonly dataset: Dataset<unknown>;
  readonly unit: SampleUnit;
  readonly codec: string | undefined;
}

/**
 * Opens a container as its format's dataset, or else as a dataset of files.
 *
 * @param options `frames` is the number of frames of each video; all by default.
 * @throws {UsageError} If frames are given but the container has no videos.
 */
export async function datasetOf(
  source: string,
  options: CommonOptions & { readonly frames?: number },
): Promise<OpenedDataset> {
  using container = await openSource(source, options);
  const { info } = container;
  const { verify: checkData, format: named, ext, maxRatio, frames } = options;
  // Warnings were already shown when it was opened for its info.
  const remote = remoteOf(options);
  const how = { checkData, format: named, ext, maxRatio };
  const quiet = { ...how, remote, onWarning() {} };
  const entry = formatNamed(info.format);
  if (frames !== undefined && entry.hasFrames?.(info) !== true) {
    const able = formats().filter(({ hasFrames }) => hasFrames)
      .map(({ name }) => name);
    throw new UsageError(
      `--frames is for ${able.join(" and ")} directories of videos`,
    );
  }
  const format = await loadFormat(entry);
  const samples = countSamples(info);
  const own = await format.openDataset?.(source, info, { ...quiet, frames }) ??
    (container.samples && await openDataset(source, quiet));
  if (own !== undefined) {
    // Load a sample to learn which codec decodes images. Errors surface when it is loaded again.
    const codec = await codecAskedBy(async () => {
      if (own.length > 0) await Promise.resolve(own.get([0])).catch(() => {});
    });
    return { dataset: own, unit: samples.unit, codec };
  }
  const dataset = await openDataset(source, { ...quiet, decode: false });
  const areSamples = dataset.length === samples.length;
  const unit = areSamples ? samples.unit : "files";
  return { dataset, unit, codec: undefined };
}
