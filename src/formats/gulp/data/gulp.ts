/**
 * Datasets of gulp directories: images and video clips.
 *
 * @module
 */
export { GulpImageDataset } from "./gulp_image_dataset.ts";
export { GulpVideoDataset } from "./gulp_video_dataset.ts";
export { GulpDataset, type GulpDatasetOptions } from "./gulp_dataset.ts";
