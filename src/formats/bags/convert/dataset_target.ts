import {
  type Conversion,
  ConversionError,
  type ConvertOptions,
  PlanNotes,
} from "../../../convert/conversion.ts";
import { optionText, SPEC } from "../../../base/named_option.ts";
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
import { recordsFrom } from "../../../convert/from/record_list.ts";
import { writtenSpec } from "../dataset/spec.ts";
import { noteChecksums } from "./bag_target.ts";
import { datasetConversion, fitting } from "./new_dataset.ts";

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
      `Cannot convert ${path}: it has types of its own. Remove ${
        optionText(SPEC)
      }`,
      path,
      [],
      undefined,
      [SPEC],
    );
  },
  form: () => DIRECTORY,
  plan,
};

async function plan(
  source: ConversionSource,
  target: string,
  options: ConvertOptions,
): Promise<Conversion> {
  if (source instanceof DatasetSource) {
    return betweenDatasets(source, target, options);
  }
  const videos = videosToDataset(source, target, options);
  if (videos !== undefined) return videos;
  if (options.spec === undefined) {
    const notes = new PlanNotes();
    const rows = await source.samples(notes, options);
    if (rows !== undefined) {
      return samplesToDataset(rows, source, target, notes, options);
    }
  }
  return source.isNumbered
    ? contentsToDataset(source, target, options)
    : filesToDataset(source, target, options);
}

async function contentsToDataset(
  source: ConversionSource,
  target: string,
  options: ConvertOptions,
): Promise<Conversion> {
  const { generation = 3, spec = { sample: "bytes" } } = options;
  const { list, notes } = await recordsFrom(source, options);
  const { keys } = writtenSpec(spec, generation, target);
  const [only, another] = keys;
  if (only === undefined || another !== undefined || only.type.isList) {
    throw new ConversionError(
      "bad-option",
      `Cannot convert ${source.path}: ${
        optionText(SPEC)
      } must have one key for samples, which is not a list`,
      source.path,
      [],
      undefined,
      [SPEC],
    );
  }
  const { key, type } = only;
  noteChecksums(source, notes);
  notes.changed.push(
    `samples are values of the key '${key}', type ${type.word}`,
  );
  return datasetConversion(source, target, options, {
    spec,
    notes,
    unit: "samples",
    total: list.length,
    async fill(dataset) {
      for (let i = 0; i < list.length; i++) {
        const record = await list.at(i);
        const number = list.numberOf?.(i) ?? i;
        await dataset.append(`sample ${number} of ${source.path}`, () => ({
          [key]: fitting(key, generation, () => record),
        }));
      }
    },
  });
}
