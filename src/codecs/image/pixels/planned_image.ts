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

export interface Plan extends Size {
  readonly channels: 1 | 3;
  /** Opens the pixels, given what is made of them. */
  open(rendering: Rendering): PixelSource;
}

/** Image decoded, scaled and cropped in one pass on first use of its pixels; until then, steps adjust the rendering. */
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
    // An own property: only these are sent to another thread.
    Object.defineProperty(this, "data", {
      enumerable: true,
      get: () => this.made().data,
    });
  }

  static of(image: Image): PlannedImage {
    const { height, width, channels } = image;
    const source = imageSource(image);
    return new PlannedImage({ height, width, channels, open: () => source });
  }

  /** Returns the rendered image, and caches it. */
  made(): Image {
    return this.#made ??= render(this.#open(), this.#rendering);
  }

  /** Writes its values, without an intermediate image unless that already exists. */
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

  scaled({ height, width }: Size): PlannedImage {
    const { part, size, crop, isFlipped } = this.#rendering;
    const isUnscaled = size.height === part.height && size.width === part.width;
    // Pixels are rounded between two scalings, and between flipping and scaling.
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

  flipped(): PlannedImage {
    return this.#with({ isFlipped: !this.#rendering.isFlipped });
  }

  #with(change: Partial<Rendering>): PlannedImage {
    return new PlannedImage(this.#plan, { ...this.#rendering, ...change });
  }
}
