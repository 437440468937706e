/**
 * Datasets of gulp directories: images and clips of videos.
 *
 * @module
 */
export type { ClipOptions } from "../../../data/datasets/clips.ts";
export {
  GulpImageDataset,
  type GulpImageOptions,
} from "./gulp_image_dataset.ts";
export type {
  GulpLabelOptions,
  GulpMeta,
  LabelChoice,
  LabelFunction,
  LabelOf,
  TextLabel,
} from "./gulp_labels.ts";
export {
  type FinishedClip,
  GulpVideoDataset,
  type GulpVideoOptions,
} from "./gulp_video_dataset.ts";
export type { GulpDatasetOptions, GulpSample } from "./gulp_videos.ts";
export type { JsonValue } from "../../../codecs/json/value.ts";
