import type { Image } from "../../../codecs/image/image.ts";
import type { NdArray } from "../../../codecs/numpy/nd_array.ts";
import type { Imported } from "../../../data/recipe.ts";
import type { Picture } from "../../../data/transforms/picture.ts";
import { finishImage } from "../../../data/transforms/to_array.ts";
import type { Step } from "../../../data/transforms/transform.ts";
import {
  GulpDataset,
  type GulpDatasetOptions,
  openVideos,
  type SampleKind,
} from "./gulp_dataset.ts";

/**
 * Images of a gulp directory: videos of one frame each (Python's `GulpImageDataset`). Samples are
 * `{ data, label, id }`, in directory order.
 *
 * @typeParam Data Data of samples.
 * @typeParam Label Label of samples.
 *
 * @example Images for training
 * ```ts
 * import { CenterCrop, Compose, GulpImageDataset, Scale, UnitNorm } from "@recordfs/recordfs/data";
 *
 * using dataset = await GulpImageDataset.open("test/golden/gulp/v2_image_list/gulp", {
 *   transform: new Compose([new Scale(28), new CenterCrop(28), new UnitNorm()]),
 * });
 * const [sample] = await dataset.get([0]);
 * console.log(sample?.data.shape, sample?.label, sample?.id); // [ 28, 28, 3 ] 2 dog-im00.png
 * ```
 */
export class GulpImageDataset<Data = NdArray, Label = number>
  extends GulpDataset<Image, Data, Label> {
  /**
   * Opens a directory of chunks.
   *
   * @param location Path of the directory.
   * @throws {FormatError} If it has no chunks, or is damaged.
   * @throws {RecordfsError} If there is no such directory.
   */
  static async open<
    Out = Image,
    Choice extends string | { readonly text: string } | Imported<never> | null =
      string,
    Found = Choice extends string ? number
      : Choice extends null ? undefined
      : Choice extends { readonly text: string } ? string
      : unknown,
    Label = Found,
  >(
    location: string | URL,
    options: GulpDatasetOptions<Choice, Found, Label> & {
      /** Transforms an image for training: a transform, such as `Compose`, or a function. */
      readonly transform?: Step<Image, Out> | undefined;
    } = {},
  ): Promise<GulpImageDataset<Out extends Picture ? NdArray : Out, Label>> {
    return new this(await openVideos<Image>(location, options), IMAGES);
  }
}

const IMAGES: SampleKind<Image> = {
  Class: GulpImageDataset,
  module: import.meta.url,
  options: {},
  assertCount(count) {
    if (count === 1) return;
    throw new TypeError(
      `it has ${count} frames, an image is one: open videos as GulpVideoDataset`,
    );
  },
  input: ([image]) => image!,
  finish: finishImage,
};
