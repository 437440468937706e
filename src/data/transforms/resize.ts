import type { Image } from "../../codecs/image/image.ts";
import { ImageError } from "../../codecs/image/image_error.ts";
import { MAX_PIXELS } from "../../codecs/image/image_header.ts";
import { PlannedImage } from "../../codecs/image/pixels/planned_image.ts";
import { resized } from "../../codecs/image/pixels/render.ts";
import type { Size } from "../../codecs/image/short_edge.ts";
import { RECIPE, type Recipe } from "../recipe.ts";
import { AllFrames } from "./compose.ts";
import { assertBytes } from "./picture.ts";
import { newRecipe, type SampleTransform } from "./transform.ts";

/**
 * Resizes an image to a short edge, or to a height and a width. Bilinear, averaging when shrinking, as Pillow's
 * `BILINEAR` and torchvision's `Resize`. The pixels are the same on every machine.
 */
export class Resize implements SampleTransform<Image, Image> {
  readonly #size: number | Size;

  /**
   * Makes the transform.
   *
   * @param size A number is the short edge in pixels; the long edge keeps the aspect ratio, rounded down as
   * Python's `int(size * long / short)`.
   * @throws {RangeError} If the size is invalid.
   */
  constructor(size: number | Size) {
    const both = sizeOf(size, new.target.name);
    this.#size = typeof size === "number" ? size : both;
  }

  /**
   * Resizes an image.
   *
   * @throws {TypeError} If its pixels are not bytes.
   * @throws {ImageError} With code `image-too-large` if the result would be too large.
   */
  apply(image: Image): Image {
    assertBytes(image, this.constructor.name);
    return resizeTo(image, this.#size);
  }

  /** Returns the recipe that constructs this transform in another thread. */
  [RECIPE](): Recipe | undefined {
    const made = this.constructor === Scale ? Scale : Resize;
    return newRecipe(this, made, import.meta.url, [this.#size]);
  }
}

/** {@linkcode Resize} under GulpIO's name. */
export class Scale extends Resize {}

/** {@linkcode Resize} for all frames of a clip. */
export class ResizeVideo extends AllFrames<Image, Image> {
  /**
   * Makes the transform.
   *
   * @param size A number is the short edge in pixels.
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
   * @param size A number is the short edge in pixels.
   */
  constructor(size: number | Size) {
    super(new Scale(size));
  }
}

/**
 * Returns a size as height and width; a number means a square.
 *
 * @throws {RangeError} If the size is invalid.
 */
export function sizeOf(size: number | Size, step: string): Size {
  const { height, width } = typeof size === "number"
    ? { height: size, width: size }
    : size;
  if (isLength(height) && isLength(width)) return { height, width };
  throw new RangeError(
    `The size of ${step} must be a whole number of pixels, or {height, ` +
      `width}, not ${JSON.stringify(size)}`,
  );
}

function isLength(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) > 0;
}

/** Resizes an image to a short edge or a size. */
export function resizeTo(image: Image, wanted: number | Size): Image {
  const { height, width } = typeof wanted === "number"
    ? shortEdge(image, wanted)
    : wanted;
  if (height * width <= MAX_PIXELS) {
    return image instanceof PlannedImage
      ? image.scaled({ height, width })
      : resized(image, { height, width });
  }
  throw new ImageError(
    "image-too-large",
    `${image.width} × ${image.height} pixels would become ${width} × ` +
      `${height}. Choose a smaller size`,
  );
}

/** Multiplies before it divides, as GulpIO's loader does. GulpIO's ingestion rounds differently. */
function shortEdge({ height, width }: Size, size: number): Size {
  return width < height
    ? { height: Math.floor(size * height / width), width: size }
    : { height: size, width: Math.floor(size * width / height) };
}
