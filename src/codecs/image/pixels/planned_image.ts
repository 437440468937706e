import type { Image } from "../image.ts";
import type { Size } from "../short_edge.ts";
import {
  type Box,
  imageSource,
  type PixelSource,
  render,
  type Rendering,
  resizing,
} from "./render.ts";
import {
  type ChannelScales,
  type Strides,
  type ValueArray,
  writeRendered,
  writeValues,
} from "./write_values.ts";

/** Where the pixels of a planned image come from. */
export interface Plan extends Size {
  readonly channels: 1 | 3;
  /** The pixels, once it is known what is made of them. */
  open(rendering: Rendering): PixelSource;
}

/**
 * An image whose pixels are decoded, scaled and cut out in one pass, when somebody looks at them: until then
 * steps only say what is wanted.
 */
export class PlannedImage implements Image {
  declare readonly data: Uint8Array<ArrayBuffer>;
  readonly height: number;
  readonly width: number;
  readonly channels: 1 | 3;
  readonly #plan: Plan;
  readonly #rendering: Rendering;
  #made: Image | undefined;

  constructor(plan: Plan, rendering: Rendering = resizing(plan, plan)) {
    this.height = rendering.crop.height;
    this.width = rendering.crop.width;
    this.channels = plan.channels;
    this.#plan = plan;
    this.#rendering = rendering;
    // A property of its own: what is sent to another thread has these only.
    Object.defineProperty(this, "data", {
      enumerable: true,
      get: () => this.made().data,
    });
  }

  /** One of pixels that are there. */
  static of(image: Image): PlannedImage {
    const { height, width, channels } = image;
    const source = imageSource(image);
    return new PlannedImage({ height, width, channels, open: () => source });
  }

  /** The image itself. */
  made(): Image {
    return this.#made ??= render(this.#open(), this.#rendering);
  }

  /** Writes its values: without an image in between, unless that is there. */
  write(scales: ChannelScales, out: ValueArray, strides: Strides): void {
    if (this.#made === undefined) {
      writeRendered(this.#open(), this.#rendering, scales, out, strides);
    } else {
      writeValues(this.#made.data, this.channels, scales, out, strides);
    }
  }

  #open(): PixelSource {
    const source = this.#plan.open(this.#rendering);
    return { ...source, channels: this.channels };
  }

  /** This image in another size. */
  scaled({ height, width }: Size): PlannedImage {
    const { part, size, crop, isFlipped } = this.#rendering;
    const isUnscaled = size.height === part.height && size.width === part.width;
    // What is scaled once more, or flipped, has rounded pixels in between.
    if (!isUnscaled || isFlipped || this.#made !== undefined) {
      return PlannedImage.of(this.made()).scaled({ height, width });
    }
    const whole = { top: 0, left: 0, height, width };
    return new PlannedImage(this.#plan, {
      part: {
        top: part.top + crop.top,
        left: part.left + crop.left,
        height: crop.height,
        width: crop.width,
      },
      size: whole,
      crop: whole,
      isFlipped,
    });
  }

  /** A part of this image. */
  cropped({ top, left, height, width }: Box): PlannedImage {
    const { crop, isFlipped } = this.#rendering;
    return this.#with({
      crop: {
        top: crop.top + top,
        left: crop.left + (isFlipped ? crop.width - left - width : left),
        height,
        width,
      },
    });
  }

  /** This image as a mirror beside it shows it. */
  flipped(): PlannedImage {
    return this.#with({ isFlipped: !this.#rendering.isFlipped });
  }

  #with(change: Partial<Rendering>): PlannedImage {
    return new PlannedImage(this.#plan, { ...this.#rendering, ...change });
  }
}
