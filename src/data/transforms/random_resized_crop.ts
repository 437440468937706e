import type { Image } from "../../codecs/image/image.ts";
import type { Box } from "../../codecs/image/pixels/render.ts";
import type { Size } from "../../codecs/image/short_edge.ts";
import type { Random } from "../random/random.ts";
import { RECIPE, type Recipe } from "../recipe.ts";
import { AllFrames } from "./compose.ts";
import { crop, randomBox } from "./crops.ts";
import { assertBytes } from "./picture.ts";
import { resizeTo, sizeOf } from "./resize.ts";
import { newRecipe, type SampleTransform } from "./transform.ts";

/** Number of random parts to try; some are too wide or too high for the picture. */
const TRIES = 10;

/**
 * Cuts out a part of random area and aspect ratio at a random position and resizes it, as torchvision's transform
 * of that name, with its defaults.
 */
export class RandomResizedCrop implements SampleTransform<Image, Image> {
  readonly #args: readonly [
    size: Size,
    options: Parts,
  ];

  /**
   * Makes the transform.
   *
   * @param size Size of the result; a number is the edge of a square, in pixels.
   * @param options Range of parts to cut out.
   * @throws {RangeError} If a size, area or aspect ratio is invalid.
   */
  constructor(
    size: number | Size,
    { scale = [0.08, 1], ratio = [3 / 4, 4 / 3] }: {
      /** Minimum and maximum share of the picture's area to cut out. Defaults to 0.08 and 1. */
      readonly scale?: readonly [least: number, most: number] | undefined;
      /** Minimum and maximum aspect ratio (width / height) of the part. Defaults to 3 / 4 and 4 / 3. */
      readonly ratio?: readonly [least: number, most: number] | undefined;
    } = {},
  ) {
    for (const [name, [least, most]] of Object.entries({ scale, ratio })) {
      if (least! > 0 && most! >= least! && Number.isFinite(most)) continue;
      throw new RangeError(
        `The ${name} of RandomResizedCrop must be two numbers above 0, the ` +
          `lower one first, not ${least} to ${most}`,
      );
    }
    this.#args = [sizeOf(size, "RandomResizedCrop"), { scale, ratio }];
  }

  /**
   * Cuts a part out of a picture and resizes it.
   *
   * @throws {TypeError} If its pixels are not bytes.
   */
  apply(image: Image, random: Random): Image {
    assertBytes(image, "RandomResizedCrop");
    const [size, options] = this.#args;
    return resizeTo(crop(image, randomPart(image, random, options)), size);
  }

  /** Returns the recipe that constructs this transform in another thread. */
  [RECIPE](): Recipe | undefined {
    return newRecipe(this, RandomResizedCrop, import.meta.url, this.#args);
  }
}

/** {@linkcode RandomResizedCrop} for all frames of a clip, with the same part. */
export class RandomResizedCropVideo extends AllFrames<Image, Image> {
  /**
   * Makes the transform.
   *
   * @param size Size of the result; a number is the edge of a square, in pixels.
   * @param options Range of parts to cut out.
   */
  constructor(
    size: number | Size,
    options?: ConstructorParameters<typeof RandomResizedCrop>[1],
  ) {
    super(new RandomResizedCrop(size, options));
  }
}

/**
 * Chooses a part as torchvision's `RandomResizedCrop.get_params`: if no try fits, the centre at a valid aspect
 * ratio.
 */
function randomPart(
  { height, width }: Size,
  random: Random,
  { scale, ratio }: Parts,
): Box {
  const [least, most] = ratio.map(Math.log) as [number, number];
  for (let i = 0; i < TRIES; i++) {
    const area = height * width *
      (scale[0] + random.float() * (scale[1] - scale[0]));
    const aspect = Math.exp(least + random.float() * (most - least));
    const part = {
      height: Math.round(Math.sqrt(area / aspect)),
      width: Math.round(Math.sqrt(area * aspect)),
    };
    const fits = part.height > 0 && part.height <= height && part.width > 0 &&
      part.width <= width;
    if (fits) return randomBox({ height, width }, part, random, "");
  }
  const own = width / height;
  const fitting = own < ratio[0]
    ? { height: Math.round(width / ratio[0]), width }
    : own > ratio[1]
    ? { height, width: Math.round(height * ratio[1]) }
    : { height, width };
  return {
    top: (height - fitting.height) >> 1,
    left: (width - fitting.width) >> 1,
    ...fitting,
  };
}

interface Parts {
  readonly scale: readonly [least: number, most: number];
  readonly ratio: readonly [least: number, most: number];
}
