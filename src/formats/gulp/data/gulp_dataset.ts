import type { GulpOptions } from "../read/decoding.ts";
import { openGulp } from "../tree/open_gulp.ts";
import { openedFrom } from "../../../data/dataset_origin.ts";
import type { Image } from "../../../codecs/image/image.ts";
import { GulpDirectory } from "../read/directory.ts";
import { shownId } from "../check/faults.ts";
import { FormatError } from "../../../base/errors.ts";
import { lastingAt, type PlaceOptions } from "../../../io/storage/place.ts";
import type { WaitOptions } from "../../../io/storage/byte_source.ts";
import { Dataset, type GetOptions, STACK } from "../../../data/dataset.ts";
import {
  ArrayRows,
  type TakeArray,
} from "../../../data/transforms/array_rows.ts";
import { finished, plannedStep } from "../../../data/transforms/compose.ts";
import { inFlight } from "../../../data/in_flight.ts";
import { Random } from "../../../data/random/random.ts";
import { RECIPE, type Recipe, storageArgument } from "../../../data/recipe.ts";
import {
  DecodeImage,
  type DecodeImageOptions,
} from "../../../data/transforms/decode_image.ts";
import {
  PLAN,
  runStep,
  type Step,
  stepArgument,
  type TransformFunction,
} from "../../../data/transforms/transform.ts";
import { sampleFailed } from "../../../data/transforms/transform_samples.ts";
import {
  type AnyLabelOptions,
  type FindLabel,
  type GulpLabelOptions,
  labelArguments,
  type LabelChoice,
  type LabelOf,
  loadLabels,
} from "./gulp_labels.ts";
import { hasSample } from "../../../data/datasets/has_sample.ts";

/** Options of both datasets of gulp directories. */
export interface GulpDatasetOptions<
  Choice extends LabelChoice = LabelChoice,
  Found = LabelOf<Choice>,
  Label = Found,
> extends
  GulpLabelOptions<Choice, Found, Label>,
  DecodeImageOptions,
  PlaceOptions,
  WaitOptions,
  Pick<GulpOptions, "onWarning"> {}

/** A sample of a gulp directory. */
export interface GulpSample<Data, Label = number> {
  /** The image, or the clip. */
  readonly data: Data;
  /** What it shows. */
  readonly label: Label;
  /** The video's id. */
  readonly id: string;
}

/** What samples of a dataset are made of videos. */
export interface SampleKind<In> {
  /** The class of the dataset, and options of its own. */
  readonly recipe: Pick<Recipe, "module" | "name">;
  readonly options: object;
  /** How many are made at a time; as many as processors are good for, where not given. */
  readonly inFlight?: number;
  /** Chooses the frames of a video to read; all where it is not given. */
  readonly choose?: (count: number, random: Random) => number[];
  /**
   * Refuses videos that are none of the kind.
   *
   * @param count How many frames were read.
   */
  readonly assertCount: (count: number) => void;
  /** What the transform is given of the frames. */
  readonly input: (frames: Image[]) => In;
  /** What samples have of what the transform has made. */
  readonly finish: (made: unknown, take: TakeArray) => unknown;
}

/** Options whose types do not matter any more, for a transform that is given `In`. */
type OpenOptions<In> =
  & AnyLabelOptions
  & DecodeImageOptions
  & PlaceOptions
  & WaitOptions
  & Pick<GulpOptions, "onWarning">
  & { readonly isQuiet?: boolean }
  & { readonly transform?: Step<In, unknown> | undefined };

/** A gulp directory opened for a dataset. */
export interface OpenedVideos<In> {
  readonly directory: GulpDirectory<Uint8Array<ArrayBuffer>>;
  readonly labels: ReadonlyMap<string, number> | undefined;
  readonly findLabel: FindLabel;
  readonly decoder: DecodeImage;
  readonly options: OpenOptions<In>;
}

/** Opens a directory of chunks for a dataset whose transform is given `In`. */
export async function openVideos<In>(
  location: string | URL,
  options: OpenOptions<In>,
): Promise<OpenedVideos<In>> {
  const { transform } = options;
  if (transform !== undefined) runStep(transform); // throws before files are opened
  const decoder = new DecodeImage(decodingOf(options));
  const { path, storage } = lastingAt(location, options);
  // Other threads were told by the first one.
  const onWarning = options.isQuiet === true ? () => {} : options.onWarning;
  const { signal } = options;
  const undecoded = { decode: false, storage, onWarning, signal } as const;
  const directory = await GulpDirectory.open(path, undecoded);
  try {
    if (directory.numChunks === 0) throw noChunks(directory.path);
    const labels = await directory.labels({ signal });
    const findLabel = await loadLabels(options, labels);
    const placed = { ...options, storage, signal: undefined };
    return { directory, labels, findLabel, decoder, options: placed };
  } catch (error) {
    directory.close();
    throw error;
  }
}

/**
 * The videos of a gulp directory by number, with their labels: what {@linkcode GulpImageDataset} and
 * {@linkcode GulpVideoDataset} have in common.
 *
 * @typeParam In What transforms are given.
 * @typeParam Data What samples have as data.
 * @typeParam Label What samples have as label.
 */
export abstract class GulpDataset<In, Data, Label>
  extends Dataset<GulpSample<Data, Label>> {
  readonly #opened: OpenedVideos<In>;
  readonly #kind: SampleKind<In>;
  readonly #run: TransformFunction<In, unknown>;

  /** Takes what was opened. */
  protected constructor(opened: OpenedVideos<In>, kind: SampleKind<In>) {
    super();
    const { transform } = opened.options;
    this.#opened = opened;
    const { directory: { path: location }, options: { storage } } = opened;
    openedFrom(this, openGulp, location, { storage });
    this.#kind = kind;
    this.#run = transform === undefined
      ? (input) => input
      : plannedStep(transform);
  }

  /** Number of videos. */
  override get length(): number {
    return this.#opened.directory.length;
  }

  /** The number of videos of each chunk, 0 of one that is left out since it is damaged. */
  override get shardLengths(): readonly number[] {
    return this.#opened.directory.shardLengths;
  }

  /** The numbers of labels, of `label2idx.json`; `undefined` where there is no such file. */
  get label2idx(): ReadonlyMap<string, number> | undefined {
    return this.#opened.labels;
  }

  /**
   * Reads, decodes and transforms samples.
   *
   * @throws {IndexError} If there is no such video.
   * @throws {DataError} With code `sample-failed` if one cannot be read, decoded, transformed or
   * labelled; it names the id and the file.
   */
  override async get(
    indices: readonly number[],
    options: GetOptions = {},
  ): Promise<GulpSample<Data, Label>[]> {
    const { seed = 0, epoch = 0, signal } = options;
    const rows = new ArrayRows(options[STACK], indices.length);
    const { directory, findLabel } = this.#opened;
    const ids = indices.map((index) => directory.idAt(index));
    return await inFlight(
      indices.length,
      async (i) => {
        const index = indices[i]!;
        const id = ids[i]!;
        try {
          const random = new Random(seed, epoch, index);
          const row = rows.row(i);
          const { data, meta } = await this.#make(id, random, row, signal);
          const label = await findLabel(meta, id) as Label;
          return { data, label, id };
        } catch (cause) {
          if (signal?.aborted) throw cause;
          const path = this.fileOf(index);
          const what = `sample ${index}, video ${shownId(id)} of ${path},`;
          throw sampleFailed(index, what, path, cause);
        }
      },
      signal,
      this.#kind.inFlight,
    );
  }

  /** Has the frames fetched that the samples are made of, where they lie on a server. */
  override expect(
    indices: readonly number[],
    { seed = 0, epoch = 0 }: GetOptions = {},
  ): number {
    const { directory } = this.#opened;
    let bytes = 0;
    for (const index of indices) {
      if (!hasSample(this, index)) continue;
      const id = directory.idAt(index);
      const random = new Random(seed, epoch, index);
      bytes += directory.expect(id, this.#selectionOf(id, random));
    }
    return bytes;
  }

  /** The data file that a video lies in. */
  override fileOf(index: number): string | undefined {
    if (!hasSample(this, index)) return undefined;
    const { directory } = this.#opened;
    const chunk = directory.chunkLookup.get(directory.idAt(index));
    return directory.chunkObjsLookup.get(chunk!)?.dataPath;
  }

  /** Closes the files. */
  override close(): void {
    this.#opened.directory.close();
  }

  /**
   * How another thread opens it.
   *
   * @throws {DataError} With code `not-portable` if an option is a function.
   */
  override [RECIPE](): Recipe {
    const { directory: { path }, options } = this.#opened;
    const { transform, storage } = options;
    const again = {
      ...decodingOf(options),
      isQuiet: true,
      storage: storageArgument(storage, path),
      ...labelArguments(options),
      ...this.#kind.options,
      transform: transform && stepArgument(transform, "The option transform"),
    };
    return { ...this.#kind.recipe, how: "open", args: [path, again] };
  }

  /** The frames of a video to read; `undefined` for all. */
  #selectionOf(id: string, random: Random): number[] | undefined {
    const count = this.#opened.directory.frameCount(id);
    const chosen = this.#kind.choose?.(count, random);
    return chosen?.length === count ? undefined : chosen;
  }

  async #make(
    id: string,
    random: Random,
    take: TakeArray,
    signal: AbortSignal | undefined,
  ) {
    const { directory, decoder } = this.#opened;
    const { assertCount, input, finish } = this.#kind;
    const selection = this.#selectionOf(id, random);
    const { frames, meta } = await directory.getRaw(id, selection, { signal });
    assertCount(frames.length);
    const images = await inFlight(
      frames.length,
      (i) => decoder[PLAN](frames[i]!),
      signal,
    );
    const made = await this.#run(input(images), random);
    return { data: finish(finished(made, take), take) as Data, meta };
  }
}

function decodingOf(
  { codec, colorspace, shortEdge, exact }: DecodeImageOptions,
): DecodeImageOptions {
  return { codec, colorspace, shortEdge, exact };
}

function noChunks(path: string): FormatError {
  return new FormatError(
    "missing-data",
    `${path} has no data_K.gulp with meta_K.gmeta: give the directory that chunks were written to`,
    { path },
  );
}
