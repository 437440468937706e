import type { Image } from "../../../codecs/image/image.ts";
import type { NdArray } from "../../../codecs/numpy/nd_array.ts";
import { Dataset, type GetOptions } from "../../../data/dataset.ts";
import { RECIPE, type Recipe } from "../../../data/recipe.ts";
import {
  type FinishedImage,
  finishImage,
} from "../../../data/transforms/to_array.ts";
import {
  runStep,
  type Step,
  stepArgument,
  type TransformFunction,
} from "../../../data/transforms/transform.ts";
import type { LabelChoice, LabelOf } from "./gulp_labels.ts";
import {
  type GulpDatasetOptions,
  type GulpSample,
  GulpVideos,
  type Making,
} from "./gulp_videos.ts";

/** How a {@linkcode GulpImageDataset} is opened. */
export interface GulpImageOptions<
  Out = Image,
  Choice extends LabelChoice = LabelChoice,
  Found = LabelOf<Choice>,
  Label = Found,
> extends GulpDatasetOptions<Choice, Found, Label> {
  /** What makes of an image what is trained on: a transform, such as `Compose`, or a function. */
  readonly transform?: Step<Image, Out> | undefined;
}

/**
 * The images of a gulp directory: videos of one frame each (Python's `GulpImageDataset`). Samples are
 * `{ data, label, id }`, in the order of the directory.
 *
 * @typeParam Data What samples have as data.
 * @typeParam Label What samples have as label.
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
  extends Dataset<GulpSample<Data, Label>> {
  readonly #videos: GulpVideos<Label>;
  readonly #transform: Step<Image, unknown> | undefined;
  readonly #run: TransformFunction<Image, unknown>;

  private constructor(
    videos: GulpVideos<Label>,
    transform: Step<Image, unknown> | undefined,
  ) {
    super();
    this.#videos = videos;
    this.#transform = transform;
    this.#run = transform === undefined ? (image) => image : runStep(transform);
  }

  /**
   * Opens a directory of chunks.
   *
   * @param location Path of the directory.
   * @throws {FormatError} If it has no chunks, or is damaged.
   * @throws {RecordfsError} If there is no such directory.
   */
  static async open<
    Out = Image,
    Choice extends LabelChoice = string,
    Found = LabelOf<Choice>,
    Label = Found,
  >(
    location: string | URL,
    options: GulpImageOptions<Out, Choice, Found, Label> = {},
  ): Promise<GulpImageDataset<FinishedImage<Out>, Label>> {
    const { transform, ...others } = options;
    if (transform !== undefined) runStep(transform); // throws before files are opened
    const videos = await GulpVideos.open<Label>(location, others);
    return new GulpImageDataset(videos, transform);
  }

  /** Number of images. */
  override get length(): number {
    return this.#videos.length;
  }

  /** The numbers of labels, of `label2idx.json`; `undefined` where there is no such file. */
  get label2idx(): ReadonlyMap<string, number> | undefined {
    return this.#videos.labels;
  }

  /**
   * Reads, decodes and transforms images.
   *
   * @throws {IndexError} If there is no such image.
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
    );
  }

  /** The data file that an image lies in. */
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
      name: "GulpImageDataset",
      how: "open",
      args: [location, { ...options, transform }],
    };
  }

  /** Closes the files. */
  override close(): void {
    this.#videos.close();
  }

  async #make(making: Making) {
    const { frames, meta } = await this.#videos.read(making);
    if (frames.length !== 1) {
      throw new TypeError(
        `it has ${frames.length} frames, an image is one: open videos as GulpVideoDataset`,
      );
    }
    const [image] = await this.#videos.decode(frames, making);
    const made = await this.#run(image!, making.random);
    return { data: finishImage(made) as Data, meta };
  }
}
