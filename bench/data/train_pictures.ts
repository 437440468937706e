/**
 * Makes arrays of pictures for the benchmark `pictures`: what the loader's threads import.
 *
 * @module
 */
import type { SampleValues } from "../../mod.ts";
import type { NdArray } from "../../src/codecs/numpy/mod.ts";
import {
  CenterCrop,
  Compose,
  DecodeImage,
  Normalize,
  type Process,
  RandHorFlip,
  RandomResizedCrop,
  Scale,
  ToArray,
  transformSamples,
} from "../../src/open/data/mod.ts";

const decode = new DecodeImage({ colorspace: "RGB" });

const middle = new Compose([
  decode,
  new Scale(256),
  new CenterCrop(224),
  new ToArray({ scale: 1 / 255 }),
]);

/** The short edge becomes 256, the middle 224 × 224 is cut out, and divided by 255. */
export const center = processBy(middle);

/** The same of MDS, whose samples have the JPEG as `image`. */
export const centerOfImage = processField("image");

/** The same of WebDataset, whose samples have the JPEG as `jpg`. */
export const centerOfJpg = processField("jpg");

/** A part of random size, resized, flipped or not, and normalized. */
export const random = processBy(
  new Compose([
    decode,
    new RandomResizedCrop(224),
    new RandHorFlip(),
    new Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225], {
      scale: 1 / 255,
    }),
    new ToArray(),
  ]),
);

function processBy(chain: Compose<NdArray>): Process<Uint8Array, NdArray> {
  return (samples, indices, options) =>
    transformSamples(chain, samples, indices, options);
}

function processField(name: string): Process<SampleValues, NdArray> {
  return (samples, indices, options) =>
    transformSamples(
      middle,
      samples.map((sample) => sample[name] as Uint8Array),
      indices,
      options,
    );
}
