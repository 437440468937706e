/**
 * Transforms of samples, as those of GulpIO's loader: crops, flips, scaling, normalization.
 *
 * @module
 */
export { AllFrames, Compose, ComposeVideo } from "./compose.ts";
export {
  CenterCrop,
  CenterCropVideo,
  JitterCrop,
  JitterCropVideo,
  type PadOptions,
  RandomCrop,
  RandomCropVideo,
} from "./crops.ts";
export { DecodeImage } from "./decode_image.ts";
export {
  RandHorFlip,
  RandHorFlipVideo,
  RandVerFlip,
  RandVerFlipVideo,
} from "./flips.ts";
export {
  Normalize,
  NormalizeVideo,
  UnitNorm,
  UnitNormVideo,
} from "./normalize.ts";
export type { FloatImage, Picture } from "./picture.ts";
export {
  RandomResizedCrop,
  RandomResizedCropVideo,
} from "./random_resized_crop.ts";
export { Resize, ResizeVideo, Scale, ScaleVideo } from "./resize.ts";
export { ToArray, ToArrayVideo } from "./to_array.ts";
export type { SampleTransform, Step } from "./transform.ts";
export { transformSamples } from "./transform_samples.ts";
export type { Size } from "../../codecs/image/short_edge.ts";
