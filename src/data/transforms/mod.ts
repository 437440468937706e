/**
 * Transforms of samples, as those of GulpIO's loader: crops, flips, scaling, normalization.
 *
 * @module
 */
export { AllFrames } from "./video/all_frames.ts";
export type { ArrayDtype, ArrayOptions } from "./array_options.ts";
export { CenterCrop } from "./center_crop.ts";
export { Compose } from "./compose.ts";
export { ComposeVideo } from "./video/compose_video.ts";
export { DecodeImage, type DecodeImageOptions } from "./decode_image.ts";
export { JitterCrop } from "./video/jitter_crop.ts";
export { Normalize, type NormalizeOptions } from "./normalize.ts";
export type { Padding, PadOptions } from "./pad.ts";
export type { FloatImage, Picture } from "./picture.ts";
export { RandHorFlip, RandVerFlip } from "./rand_flip.ts";
export { RandomCrop } from "./random_crop.ts";
export { Resize, Scale } from "./resize.ts";
export type { Size } from "./size.ts";
export {
  type FinishedImage,
  ToArray,
  type ToArrayOptions,
} from "./to_array.ts";
export {
  ToArrayVideo,
  type ToArrayVideoOptions,
} from "./video/to_array_video.ts";
export type { SampleTransform, Step, TransformFunction } from "./transform.ts";
export { transformSamples } from "./transform_samples.ts";
export { UnitNorm, UnitNormVideo } from "./unit_norm.ts";
export {
  CenterCropVideo,
  JitterCropVideo,
  NormalizeVideo,
  RandHorFlipVideo,
  RandomCropVideo,
  RandVerFlipVideo,
  ResizeVideo,
  ScaleVideo,
} from "./video/video_transforms.ts";
export type { ImageCodecName } from "../../codecs/image/choose_codec.ts";
export type { Colorspace, Image } from "../../codecs/image/image.ts";
export type { NdArray, NumericArray } from "../../codecs/numpy/nd_array.ts";
