import { type StoredPixels, valuesAs } from "./stored_pixels.ts";
import { writeValues } from "./write_values.ts";

/** Pixels as real numbers: what `Normalize` and `UnitNorm` make of an {@linkcode Image}. */
export interface FloatImage {
  /** One value per channel, rows from the top, no gap between rows. */
  readonly data: Float32Array<ArrayBuffer>;
  /** Rows. */
  readonly height: number;
  /** Pixels in a row. */
  readonly width: number;
  /** 1 is gray, 3 is RGB. */
  readonly channels: 1 | 3;
}

/**
 * A {@linkcode FloatImage} whose values are computed when somebody looks at them: steps that follow work
 * on the bytes, and what makes an array of it reads them once.
 */
export class ScaledImage implements FloatImage {
  declare readonly data: Float32Array<ArrayBuffer>;
  readonly height: number;
  readonly width: number;
  readonly channels: 1 | 3;
  #stored: StoredPixels;
  #computed: Float32Array<ArrayBuffer> | undefined;

  constructor(
    { height, width, channels }: Omit<FloatImage, "data">,
    stored: StoredPixels,
  ) {
    this.height = height;
    this.width = width;
    this.channels = channels;
    this.#stored = stored;
    // A property of its own: what is sent to another thread has these only.
    Object.defineProperty(this, "data", {
      enumerable: true,
      get: () => this.#compute(),
    });
  }

  /** Class that it is stored in. */
  stored(): StoredPixels {
    return this.#stored;
  }

  /** From now on its values are what it is stored as, since they may be written to. */
  #compute(): Float32Array<ArrayBuffer> {
    if (this.#computed === undefined) {
      const { height, width, channels } = this;
      const values = new Float32Array(height * width * channels);
      writeValues(this.#stored, channels, values, {
        start: 0,
        pixel: channels,
        channel: 1,
      });
      this.#computed = values;
      this.#stored = valuesAs(values);
    }
    return this.#computed;
  }
}
