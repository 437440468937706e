import type { Image } from "../../../codecs/image/image.ts";
import type { NdArray } from "../../../codecs/numpy/nd_array.ts";
import { Dataset, type GetOptions } from "../../../data/dataset.ts";
import { RECIPE, type Recipe } from "../../../data/recipe.ts";
import type { Picture } from "../../../data/transforms/picture.ts";
import {
  runStep,
  type Step,
  stepArgument,
  type TransformFunction,
} from "../../../data/transforms/transform.ts";
import {
  assertClipOptions,
  clipFrames,
  type ClipOptions,
  finishClip,
} from "../../../data/datasets/clips.ts";
import type { LabelChoice, LabelOf } from "./gulp_labels.ts";
import {
  type GulpDatasetOptions,
  type GulpSample,
  GulpVideos,
  type Making,
} from "./gulp_videos.ts";

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
  extends Dataset<GulpSample<Data, Label>> {
  readonly #videos: GulpVideos<Label>;
  readonly #transform: Step<Image[], unknown> | undefined;
  readonly #run: TransformFunction<Image[], unknown>;
  readonly #clip: ClipOptions;
  readonly #stack: boolean;

  private constructor(
    videos: GulpVideos<Label>,
    transform: Step<Image[], unknown> | undefined,
    clip: ClipOptions,
    stack: boolean,
  ) {
    super();
    this.#videos = videos;
    this.#transform = transform;
    this.#run = transform === undefined
      ? (frames) => frames
      : runStep(transform);
    this.#clip = clip;
    this.#stack = stack;
  }

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
    const {
      transform,
      stack = true,
      numFrames,
      stepSize,
      isVal,
      randomOffset,
      ...others
    } = options;
    const clip = { numFrames, stepSize, isVal, randomOffset };
    assertClipOptions(clip);
    if (transform !== undefined) runStep(transform); // throws before files are opened
    const videos = await GulpVideos.open<Label>(location, others);
    return new GulpVideoDataset(videos, transform, clip, stack);
  }

  /** Number of videos. */
  override get length(): number {
    return this.#videos.length;
  }

  /** The numbers of labels, of `label2idx.json`; `undefined` where there is no such file. */
  get label2idx(): ReadonlyMap<string, number> | undefined {
    return this.#videos.labels;
  }

  /**
   * Reads, decodes and transforms clips.
   *
   * @throws {IndexError} If there is no such video.
   * @throws {DataError} With code `sample-failed` if one cannot be read, decoded, transformed or
   * labelled; it names the id and the file.
   */
  override get(
    indices: readonly number[],
    options: GetOptions = {},
  ): Promise<GulpSample<Data, Label>[]> {
    return this.#videos.samples(
      indices,
      options,
      (making) => this.#make(making),
      VIDEOS_IN_FLIGHT,
    );
  }

  /** The data file that a video lies in. */
  override fileOf(index: number): string | undefined {
    return this.#videos.fileOf(index);
  }

  /**
   * How another thread opens it.
   *
   * @throws {DataError} With code `not-portable` if an option is a function.
   */
  override [RECIPE](): Recipe {
    const [location, options] = this.#videos.arguments();
    const transform = this.#transform === undefined
      ? undefined
      : stepArgument(this.#transform, "The option transform");
    return {
      module: import.meta.url,
      name: "GulpVideoDataset",
      how: "open",
      args: [location, {
        ...options,
        ...this.#clip,
        stack: this.#stack,
        transform,
      }],
    };
  }

  /** Closes the files. */
  override close(): void {
    this.#videos.close();
  }

  async #make(making: Making) {
    const count = this.#videos.frameCount(making.id);
    const chosen = clipFrames(count, this.#clip, making.random);
    const { frames, meta } = await this.#videos.read(
      making,
      chosen.length === count ? undefined : chosen,
    );
    if (frames.length === 0) throw new TypeError("it has no frames");
    const clip = await this.#videos.decode(frames, making);
    const last = clip.at(-1)!;
    while (clip.length < (this.#clip.numFrames ?? 0)) clip.push(last);
    const made = await this.#run(clip, making.random);
    return { data: finishClip(made, this.#stack) as Data, meta };
  }
}
