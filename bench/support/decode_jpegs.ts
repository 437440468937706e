/**
 * Decodes JPEGs for the loader's benchmark: what its threads import.
 *
 * @module
 */
import { imageCodec } from "../../src/codecs/image/mod.ts";
import type { NdArray } from "../../src/codecs/numpy/mod.ts";

/** Width and height of the results. */
export const EDGE = 224;

/** Decodes the JPEGs of a batch, one at a time, to `EDGE` × `EDGE` pixels of their middle. */
export default async function decodeJpegs(
  samples: readonly Uint8Array[],
): Promise<NdArray[]> {
  const codec = await imageCodec("sharp");
  const arrays: NdArray[] = [];
  for (const bytes of samples) {
    const image = await codec.decode(bytes, { colorspace: "RGB" });
    const { data, width, height } = await codec.resizeShortEdge(image, EDGE);
    const square = new Uint8Array(EDGE * EDGE * 3);
    const top = (height - EDGE) >> 1;
    const left = (width - EDGE) >> 1;
    for (let y = 0; y < EDGE; y++) {
      const start = ((top + y) * width + left) * 3;
      square.set(data.subarray(start, start + EDGE * 3), y * EDGE * 3);
    }
    arrays.push({ dtype: "|u1", shape: [EDGE, EDGE, 3], data: square });
  }
  return arrays;
}
