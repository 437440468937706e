import { BagDataset } from "../../../data/datasets/bag_dataset.ts";
import type { Dataset } from "../../../data/dataset.ts";
import { FFRecordDataset } from "../../../data/datasets/ffrecord_dataset.ts";
import { FileDataset } from "../../../data/datasets/file_dataset.ts";
import { GulpImageDataset } from "../../../data/datasets/gulp_image_dataset.ts";
import { GulpVideoDataset } from "../../../data/datasets/gulp_video_dataset.ts";
import { PackedFolderDataset } from "../../../data/datasets/packed_folder_dataset.ts";
import {
  countSamples,
  type SampleUnit,
} from "../../../data/split/counted_samples.ts";
import type { ContainerInfo } from "../../../vfs/mod.ts";
import { UsageError } from "../../exit.ts";
import { openSource, type SourceOptions } from "../../input/source.ts";

/** How a container is opened as a dataset. */
export interface DatasetOfOptions extends SourceOptions {
  /** How many frames of each video; all, unless given. */
  readonly frames?: number | undefined;
}

/** A container as a dataset. */
export interface OpenedDataset {
  readonly dataset: Dataset<unknown>;
  readonly unit: SampleUnit;
}

/**
 * Opens a container as the dataset that is made for it; what has none of its own, as files.
 *
 * @throws {UsageError} If frames are asked for of what has no videos.
 */
export async function datasetOf(
  source: string,
  options: DatasetOfOptions,
): Promise<OpenedDataset> {
  const info = await infoOf(source, options);
  const { verify: checkData, format, ext, frames } = options;
  const quiet = { checkData, onWarning() {} }; // told of when it was opened for its facts
  if (isDirectoryOfVideos(info)) {
    return { dataset: await openVideos(source, info, frames), unit: "videos" };
  }
  if (frames !== undefined) {
    throw new UsageError("--frames is for gulp directories of videos");
  }
  const { unit } = countSamples(info);
  if (unit === "datapoints") {
    return { dataset: await BagDataset.open(source, quiet), unit };
  }
  if (unit === "samples" && info.format === "ffrecord") {
    return { dataset: await FFRecordDataset.open(source, quiet), unit };
  }
  if (info.kind === "packed folder") {
    return { dataset: await PackedFolderDataset.open(source, quiet), unit };
  }
  const dataset = await FileDataset.open(source, { ...quiet, format, ext });
  return { dataset, unit: unit === "videos" ? "files" : unit };
}

async function infoOf(
  source: string,
  options: SourceOptions,
): Promise<ContainerInfo> {
  using container = await openSource(source, options);
  return container.info;
}

function isDirectoryOfVideos({ format, kind }: ContainerInfo): boolean {
  return format === "gulp" && kind === "directory of chunks";
}

/** Opens images where all videos have one frame. Labels are left out, since not all videos have some. */
async function openVideos(
  source: string,
  { facts }: ContainerInfo,
  numFrames: number | undefined,
): Promise<Dataset<unknown>> {
  const areImages = facts?.frames === facts?.videos;
  if (areImages && numFrames === undefined) {
    return await GulpImageDataset.open(source, { label: null });
  }
  return await GulpVideoDataset.open(source, {
    label: null,
    numFrames,
    stack: false, // frames of a video may differ in size
  });
}
