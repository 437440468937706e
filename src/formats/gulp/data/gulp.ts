/**
 * Datasets of gulp directories: images and video clips.
 *
 * @module
 */
export type { ClipOptions } from "../../../data/datasets/clips.ts";
export * from "./gulp_image_dataset.ts";
export type {
  GulpLabelOptions,
  GulpMeta,
  LabelChoice,
  LabelFunction,
  LabelOf,
  TextLabel,
} from "./gulp_labels.ts";
export * from "./gulp_video_dataset.ts";
export {
  GulpDataset,
  type GulpDatasetOptions,
  type GulpSample,
} from "./gulp_dataset.ts";
