/**
 * The transforms for images, applied to clips: all frames alike.
 *
 * @module
 */
import type { Image } from "../../../codecs/image/image.ts";
import { AllFrames } from "./all_frames.ts";
import { CenterCrop } from "../center_crop.ts";
import { JitterCrop } from "./jitter_crop.ts";
import { Normalize, type NormalizeOptions } from "../normalize.ts";
import type { PadOptions } from "../pad.ts";
import type { FloatImage, Picture } from "../picture.ts";
import { RandHorFlip, RandVerFlip } from "../rand_flip.ts";
import { RandomCrop } from "../random_crop.ts";
import { Resize, Scale } from "../resize.ts";
import type { Size } from "../size.ts";

/** {@linkcode Resize} for all frames of a clip. */
export class ResizeVideo extends AllFrames<Image, Image> {
  /**
   * Makes the transform.
   *
   * @param size A number is the length of the short edge in pixels.
   */
  constructor(size: number | Size) {
    super(new Resize(size));
  }
}

/** {@linkcode Scale} for all frames of a clip. */
export class ScaleVideo extends AllFrames<Image, Image> {
  /**
   * Makes the transform.
   *
   * @param size A number is the length of the short edge in pixels.
   */
  constructor(size: number | Size) {
    super(new Scale(size));
  }
}

/** {@linkcode CenterCrop} for all frames of a clip. */
export class CenterCropVideo extends AllFrames<Picture, Picture> {
  /**
   * Makes the transform.
   *
   * @param size A number is the edge of a square, in pixels.
   */
  constructor(size: number | Size) {
    super(new CenterCrop(size));
  }
}

/** {@linkcode RandomCrop} for all frames of a clip, at the same place. */
export class RandomCropVideo extends AllFrames<Picture, Picture> {
  /**
   * Makes the transform.
   *
   * @param size A number is the edge of a square, in pixels.
   * @param options The border that frames get before.
   */
  constructor(size: number | Size, options?: PadOptions) {
    super(new RandomCrop(size, options));
  }
}

/** {@linkcode JitterCrop} for all frames of a clip, of the same size and at the same place. */
export class JitterCropVideo extends AllFrames<Picture, Picture> {
  /**
   * Makes the transform.
   *
   * @param sampleSizes Widths, and heights, to choose of, in pixels.
   * @param options The border that frames get before.
   */
  constructor(sampleSizes?: readonly number[], options?: PadOptions) {
    super(new JitterCrop(sampleSizes, options));
  }
}

/** {@linkcode RandHorFlip} for all frames of a clip, or none. */
export class RandHorFlipVideo extends AllFrames<Picture, Picture> {
  /**
   * Makes the transform.
   *
   * @param probability Of being flipped, from 0 to 1; 0.5 unless given.
   */
  constructor(probability?: number) {
    super(new RandHorFlip(probability));
  }
}

/** {@linkcode RandVerFlip} for all frames of a clip, or none. */
export class RandVerFlipVideo extends AllFrames<Picture, Picture> {
  /**
   * Makes the transform.
   *
   * @param probability Of being flipped, from 0 to 1; 0.5 unless given.
   */
  constructor(probability?: number) {
    super(new RandVerFlip(probability));
  }
}

/** {@linkcode Normalize} for all frames of a clip. */
export class NormalizeVideo extends AllFrames<Picture, FloatImage> {
  /**
   * Makes the transform.
   *
   * @param mean One for each channel, or one for all.
   * @param std Standard deviations: one for each channel, or one for all.
   * @param options What values are multiplied by first.
   */
  constructor(
    mean: number | readonly number[],
    std: number | readonly number[],
    options?: NormalizeOptions,
  ) {
    super(new Normalize(mean, std, options));
  }
}
