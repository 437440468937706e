import { RECIPE, type Recipe } from "../recipe.ts";
import { EPSILON } from "./normalize.ts";
import {
  assertPicture,
  type FloatImage,
  type Picture,
  storedPixels,
} from "./picture.ts";
import { ScaledImage } from "./scaled_image.ts";
import type { StoredPixels } from "./stored_pixels.ts";
import { newRecipe, type SampleTransform } from "./transform.ts";

/**
 * Gives each picture the mean 0 and the standard deviation 1, over all its pixels and channels:
 * `(value - mean) / (std + 1e-8)`.
 */
export class UnitNorm implements SampleTransform<Picture, FloatImage> {
  /** Normalizes a picture. */
  apply(picture: Picture): FloatImage {
    assertPicture(picture, "UnitNorm");
    return unitNorm([picture])[0]!;
  }

  /** Recipe by which another thread makes it. */
  [RECIPE](): Recipe | undefined {
    return newRecipe(this, UnitNorm, import.meta.url, []);
  }
}

/** Gives the frames of a clip the mean 0 and the standard deviation 1 as a whole: all alike. */
export class UnitNormVideo
  implements SampleTransform<readonly Picture[], FloatImage[]> {
  /** Normalizes a clip. */
  apply(frames: readonly Picture[]): FloatImage[] {
    for (const frame of frames) assertPicture(frame, "UnitNormVideo");
    return unitNorm(frames);
  }

  /** Recipe by which another thread makes it. */
  [RECIPE](): Recipe | undefined {
    return newRecipe(this, UnitNormVideo, import.meta.url, []);
  }
}

/** Normalizes pictures by the mean and the standard deviation of all of them together. */
function unitNorm(pictures: readonly Picture[]): FloatImage[] {
  const stored = pictures.map(storedPixels);
  let count = 0;
  let total = 0;
  stored.forEach((one, i) => {
    count += one.pixels.length;
    total += sumOf(one, pictures[i]!.channels);
  });
  const mean = total / count;
  let squares = 0;
  stored.forEach((one, i) => {
    squares += squaresOf(one, pictures[i]!.channels, mean);
  });
  const divisor = Math.sqrt(squares / count) + EPSILON;
  return stored.map(({ pixels, factors, offsets }, i) =>
    new ScaledImage(pictures[i]!, {
      pixels,
      factors: factors.map((factor) => factor / divisor),
      offsets: offsets.map((offset) => (offset - mean) / divisor),
    })
  );
}

/** The sum of a picture's values. */
function sumOf(
  { pixels, factors, offsets }: StoredPixels,
  channels: 1 | 3,
): number {
  let total = 0;
  for (let c = 0; c < channels; c++) {
    let sum = 0;
    for (let i = c; i < pixels.length; i += channels) sum += pixels[i]!;
    total += sum * factors[c]! + pixels.length / channels * offsets[c]!;
  }
  return total;
}

/** The sum of the squares of how far a picture's values are from `mean`. */
function squaresOf(
  { pixels, factors, offsets }: StoredPixels,
  channels: 1 | 3,
  mean: number,
): number {
  let total = 0;
  for (let c = 0; c < channels; c++) {
    const factor = factors[c]!;
    const offset = offsets[c]! - mean;
    for (let i = c; i < pixels.length; i += channels) {
      const distance = pixels[i]! * factor + offset;
      total += distance * distance;
    }
  }
  return total;
}
