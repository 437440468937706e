import {
  type Conversion,
  ConversionError,
  type ConvertOptions,
} from "../../../convert/conversion.ts";
import type { ConversionSource } from "../../../convert/from/source.ts";
import { LABEL_FILE } from "../../../convert/label_file.ts";
import {
  type ConversionTarget,
  DIRECTORY,
} from "../../../convert/to/target.ts";
import { isDatasetFile, SHARD_NAME } from "../dataset/dataset_names.ts";
import { betweenDatasets } from "./between_datasets.ts";
import { DatasetSource } from "./dataset_source.ts";
import { filesToDataset } from "./files_to_dataset.ts";
import { samplesToDataset } from "./samples_to_dataset.ts";
import { videosToDataset } from "./videos_to_dataset.ts";

/** Anything to a dataset. */
export const datasetTarget: ConversionTarget = {
  options: ["generation", "spec", "shardSize", "shardLength"],
  content: {
    what: "a dataset of bags",
    isOwn: (name) => isDatasetFile(name) || name === LABEL_FILE,
    isPart: (name) => SHARD_NAME.test(name),
  },
  requireOptions({ isTyped, path }, { spec }) {
    if (spec === undefined || !isTyped) return;
    throw new ConversionError(
      "bad-option",
      `The option \`spec\` is for files and samples: ${path} has types of its own`,
      path,
    );
  },
  form: () => DIRECTORY,
  plan,
};

function plan(
  source: ConversionSource,
  target: string,
  options: ConvertOptions,
): Conversion | Promise<Conversion> {
  if (source instanceof DatasetSource) {
    return betweenDatasets(source, target, options);
  }
  return videosToDataset(source, target, options) ??
    (source.isNumbered
      ? samplesToDataset(source, target, options)
      : filesToDataset(source, target, options));
}
