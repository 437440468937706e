import type { Image } from "../../../codecs/image/image.ts";
import type { NdArray } from "../../../codecs/numpy/nd_array.ts";
import type { Imported } from "../../../data/recipe.ts";
import type { Picture } from "../../../data/transforms/picture.ts";
import type { Step } from "../../../data/transforms/transform.ts";
import {
  assertClipOptions,
  clipFrames,
  type ClipOptions,
  finishClip,
} from "../../../data/datasets/clips.ts";
import {
  GulpDataset,
  type GulpDatasetOptions,
  openVideos,
  type SampleKind,
} from "./gulp_dataset.ts";

/** A video has many frames: one video is read while another is decoded. */
const VIDEOS_IN_FLIGHT = 2;

/**
 * Clips of a gulp directory's videos (Python's `GulpVideoDataset`): `numFrames` frames, every `stepSize`th from a
 * random start. Repeats the last frame of a video that is too short. Samples are `{ data, label, id }`, in directory
 * order.
 *
 * @typeParam Data Data of samples.
 * @typeParam Label Label of samples.
 *
 * @example Clips for training
 * ```ts
 * import {
 *   ComposeVideo,
 *   GulpVideoDataset,
 *   RandHorFlipVideo,
 *   RandomCropVideo,
 *   Scale,
 *   ToArrayVideo,
 *   UnitNormVideo,
 * } from "@recordfs/recordfs/data";
 *
 * using dataset = await GulpVideoDataset.open("test/golden/gulp/v2_chunks/gulp", {
 *   numFrames: 4,
 *   stepSize: 1,
 *   label: { text: "label" }, // there is no label2idx.json here
 *   transform: new ComposeVideo([new Scale(32)], [
 *     new RandomCropVideo(28),
 *     new RandHorFlipVideo(),
 *     new UnitNormVideo(),
 *     new ToArrayVideo({ layout: "channels-outermost" }),
 *   ]),
 * });
 * const [sample] = await dataset.get([3], { seed: 1, epoch: 0 });
 * console.log(sample?.data.shape, sample?.label); // [ 3, 4, 28, 28 ] …
 * ```
 */
export class GulpVideoDataset<Data = NdArray, Label = number>
  extends GulpDataset<Image[], Data, Label> {
  /**
   * Opens a directory of chunks.
   *
   * @param location Path of the directory.
   * @throws {FormatError} If it has no chunks, or is damaged.
   * @throws {RangeError} If the options do not define the frames of a clip.
   * @throws {RecordfsError} If there is no such directory.
   */
  static async open<
    Out = Image[],
    Stack extends boolean = true,
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
      /** Number of frames per clip. Defaults to all. */
      readonly numFrames?: number | undefined;
      /** Distance between frames: 2 takes every second one. Defaults to 1. */
      readonly stepSize?: number | undefined;
      /** For validation: clips start at the first frame. Defaults to `false`. */
      readonly isVal?: boolean | undefined;
      /** Whether a clip of a longer video starts at a random frame, which differs in each epoch. Defaults to `true`. */
      readonly randomOffset?: boolean | undefined;
      /** Transforms the list of frames for training: a clip transform, such as `ComposeVideo`, or a function. */
      readonly transform?: Step<Image[], Out> | undefined;
      /** Whether to stack a clip's frames into one array, `[frames, height, width, channels]`; `true` by default. */
      readonly stack?: Stack | undefined;
    } = {},
  ): Promise<
    GulpVideoDataset<
      Out extends readonly (Picture | NdArray)[]
        ? (Stack extends true ? NdArray : NdArray[])
        : Out,
      Label
    >
  > {
    const { stack = true, numFrames, stepSize, isVal, randomOffset } = options;
    const clip = { numFrames, stepSize, isVal, randomOffset };
    assertClipOptions(clip);
    const opened = await openVideos<Image[]>(location, options);
    return new this(opened, clips(clip, stack));
  }
}

function clips(clip: ClipOptions, stack: boolean): SampleKind<Image[]> {
  return {
    Class: GulpVideoDataset,
    module: import.meta.url,
    options: { ...clip, stack },
    inFlight: VIDEOS_IN_FLIGHT,
    choose: (count, random) => clipFrames(count, clip, random),
    assertCount(count) {
      if (count === 0) throw new TypeError("it has no frames");
    },
    input(frames) {
      const last = frames.at(-1)!;
      while (frames.length < (clip.numFrames ?? 0)) frames.push(last);
      return frames;
    },
    finish: (made, take) => finishClip(made, stack, take),
  };
}
