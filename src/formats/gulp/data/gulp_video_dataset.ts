import type { Image } from "../../../codecs/image/image.ts";
import type { NdArray } from "../../../codecs/numpy/nd_array.ts";
import type { Picture } from "../../../data/transforms/picture.ts";
import type { Step } from "../../../data/transforms/transform.ts";
import {
  assertClipOptions,
  clipFrames,
  type ClipOptions,
  finishClip,
} from "../../../data/datasets/clips.ts";
import type { LabelChoice, LabelOf } from "./gulp_labels.ts";
import {
  GulpDataset,
  type GulpDatasetOptions,
  openVideos,
  type SampleKind,
} from "./gulp_dataset.ts";

/** How a {@linkcode GulpVideoDataset} is opened. */
export interface GulpVideoOptions<
  Out = Image[],
  Stack extends boolean = boolean,
  Choice extends LabelChoice = LabelChoice,
  Found = LabelOf<Choice>,
  Label = Found,
> extends GulpDatasetOptions<Choice, Found, Label>, ClipOptions {
  /**
   * What makes of the list of frames what is trained on: a transform for clips, such as
   * `ComposeVideo`, or a function.
   */
  readonly transform?: Step<Image[], Out> | undefined;
  /** Whether a clip's frames become one array, `[frames, height, width, channels]`; `true` unless given. */
  readonly stack?: Stack | undefined;
}

/** What samples have as data: an array where frames are stacked, else one for each frame. */
export type FinishedClip<Out, Stack extends boolean> = Out extends
  readonly (Picture | NdArray)[] ? (Stack extends true ? NdArray : NdArray[])
  : Out;

/** Videos are many frames: one is read while another one is decoded. */
const VIDEOS_IN_FLIGHT = 2;

/**
 * Clips of the videos of a gulp directory (Python's `GulpVideoDataset`): every `stepSize`th frame,
 * `numFrames` of them, from a random one on; a video that is too short ends in its last frame, repeated.
 * Samples are `{ data, label, id }`, in the order of the directory.
 *
 * @typeParam Data What samples have as data.
 * @typeParam Label What samples have as label.
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
   * @throws {RangeError} If options do not say which frames are a clip.
   * @throws {RecordfsError} If there is no such directory.
   */
  static async open<
    Out = Image[],
    Stack extends boolean = true,
    Choice extends LabelChoice = string,
    Found = LabelOf<Choice>,
    Label = Found,
  >(
    location: string | URL,
    options: GulpVideoOptions<Out, Stack, Choice, Found, Label> = {},
  ): Promise<GulpVideoDataset<FinishedClip<Out, Stack>, Label>> {
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
