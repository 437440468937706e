/**
 * Makes arrays of images for the benchmark `pictures`; imported by the loader's threads.
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

/** Scales the short edge to 256, crops the central 224 × 224, and divides by 255. */
export const center = processBy(middle);

/** The same for MDS, whose samples have the JPEG as `image`. */
export const centerOfImage = processField("image");

/** The same for WebDataset, whose samples have the JPEG as `jpg`. */
export const centerOfJpg = processField("jpg");

/** Crops a part of random size, resizes it, flips it at random, and normalizes it. */
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
