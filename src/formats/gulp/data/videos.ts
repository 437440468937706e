import type { Dataset } from "../../../data/dataset.ts";
import { GulpImageDataset } from "./gulp_image_dataset.ts";
import { GulpVideoDataset } from "./gulp_video_dataset.ts";
import type { ContainerInfo } from "../../../tree/format.ts";

/** Opens images where all videos have one frame. Labels are left out, since not all videos have some. */
export async function openVideos(
  path: string,
  { facts }: ContainerInfo,
  numFrames: number | undefined,
): Promise<Dataset<unknown>> {
  const areImages = facts?.["frames"] === facts?.["videos"];
  if (areImages && numFrames === undefined) {
    return await GulpImageDataset.open(path, { label: null });
  }
  return await GulpVideoDataset.open(path, {
    label: null,
    numFrames,
    stack: false, // frames of a video may differ in size
  });
}
