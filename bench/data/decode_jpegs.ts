/**
 * Decodes JPEGs for the loader's benchmark; imported by its threads.
 *
 * @module
 */
import type { NdArray } from "../../src/codecs/numpy/mod.ts";
import {
  CenterCrop,
  Compose,
  DecodeImage,
  type GetOptions,
  transformSamples,
} from "../../src/open/data/mod.ts";

/** Width and height of the results. */
export const EDGE = 224;

const transform = new Compose([
  new DecodeImage({ colorspace: "RGB", shortEdge: EDGE }),
  new CenterCrop(EDGE),
]);

/** Decodes the JPEGs of a batch to their central `EDGE` × `EDGE` pixels. */
export default function decodeJpegs(
  samples: readonly Uint8Array[],
  indices: readonly number[],
  options?: GetOptions,
): Promise<NdArray[]> {
  return transformSamples(transform, samples, indices, options);
}
