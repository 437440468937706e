import type { GulpOptions, Video } from "../read/decoding.ts";
import { openGulp } from "../tree/open_gulp.ts";
import { openedFrom } from "../../../data/dataset_origin.ts";
import type { Image } from "../../../codecs/image/image.ts";
import type { JsonValue } from "../../../codecs/json/value.ts";
import { shownId } from "../check/faults.ts";
import { readLabels } from "../meta/labels.ts";
import { openDirectory } from "../read/directory.ts";
import type { VideoPlace } from "../read/chunk_table.ts";
import type { GulpSamples } from "../read/gulp_samples.ts";
import { FormatError } from "../../../base/errors.ts";
import { runAsync, type Steps } from "../../../io/concurrency/steps.ts";
import {
  lastingAt,
  type LocationOptions,
} from "../../../io/storage/stored_location.ts";
import type { WaitOptions } from "../../../io/storage/byte_source.ts";
import { isIndex, requireIndices } from "../../../tree/sample_indices.ts";
import type { SamplesHandle } from "../../../tree/samples/samples.ts";
import {
  reopenSamples,
  SamplesReader,
} from "../../../tree/samples/samples_reader.ts";
import type { GetOptions } from "../../../data/dataset.ts";
import { requireClass } from "../../../data/datasets/process.ts";
import { SamplesDataset } from "../../../data/datasets/samples_dataset.ts";
import type { TakeArray } from "../../../data/transforms/array_rows.ts";
import { finished, plannedStep } from "../../../data/transforms/compose.ts";
import { inFlight } from "../../../data/in_flight.ts";
import { Random } from "../../../data/random/random.ts";
import {
  type Imported,
  RECIPE,
  type Recipe,
  storageArgument,
} from "../../../data/recipe.ts";
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
import { makeSamples } from "../../../data/transforms/transform_samples.ts";
import {
  type FindLabel,
  labelArguments,
  type LabelChoice,
  loadLabels,
} from "./gulp_labels.ts";

/**
 * Options of both datasets of gulp directories.
 *
 * @typeParam Choice Origin of labels, unless a function makes them.
 * @typeParam Found Label found.
 * @typeParam Label Label of samples.
 */
export interface GulpDatasetOptions<
  Choice extends string | { readonly text: string } | Imported<never> | null =
    | string
    | { readonly text: string }
    | Imported<never>
    | null,
  Found = unknown,
  Label = Found,
> extends
  NonNullable<ConstructorParameters<typeof DecodeImage>[0]>,
  LocationOptions,
  WaitOptions,
  Pick<GulpOptions, "onWarning"> {
  /**
   * Origin of labels: the key in meta_data of a number, or of a text that has a number in `label2idx.json`; `{ text }`,
   * the key of a text to keep as it is; a function of meta_data and id, or a module that exports it; or `null` for no
   * labels. Defaults to the key `label`.
   */
  readonly label?:
    | Choice
    | ((
      meta: { readonly [key: string]: JsonValue },
      id: string,
    ) => Found | Promise<Found>)
    | undefined;
  /** Transforms the label, or its number, into the label of a sample. */
  readonly targetTransform?:
    | Imported<(label: Found) => Label | Promise<Label>>
    | undefined;
}

/** Options with erased types of labels. */
// deno-lint-ignore no-explicit-any -- what is found is what the next one takes
export type AnyGulpOptions = GulpDatasetOptions<LabelChoice, any, unknown>;

/** How a dataset makes samples from videos. */
export interface SampleKind<In> {
  /** Class of the dataset, the module that exports it, and its own options. */
  readonly Class: { readonly name: string };
  readonly module: string;
  readonly options: object;
  /** Samples made concurrently; by default as many as the processors can use. */
  readonly inFlight?: number;
  /** Chooses the frames to read; all by default. */
  readonly choose?: (count: number, random: Random) => number[];
  /** Rejects videos by their number of frames. */
  readonly assertCount: (count: number) => void;
  /** Makes the input of the transform from the frames. */
  readonly input: (frames: Image[]) => In;
  /** Makes the data of a sample from the output of the transform. */
  readonly finish: (made: unknown, take: TakeArray) => unknown;
}

/** Options with erased types, for a transform that takes `In`. */
type OpenOptions<In> =
  & AnyGulpOptions
  & {
    readonly transform?: Step<In, unknown> | undefined;
    /** Videos opened by another thread. */
    readonly shared?: SharedVideos | undefined;
  };

interface SharedVideos {
  readonly samples: SamplesHandle;
  readonly labels: ReadonlyMap<string, number> | undefined;
}

/** Gulp directory opened for a dataset. */
export interface OpenedVideos<In> {
  readonly path: string;
  readonly samples: GulpSamples;
  readonly labels: ReadonlyMap<string, number> | undefined;
  readonly findLabel: FindLabel;
  readonly decoder: DecodeImage;
  readonly options: OpenOptions<In>;
}

/** Opens a directory of chunks for a dataset whose transform takes `In`. */
export async function openVideos<In>(
  location: string | URL,
  options: OpenOptions<In>,
): Promise<OpenedVideos<In>> {
  const { transform, signal } = options;
  if (transform !== undefined) runStep(transform); // throws before files are opened
  const decoder = new DecodeImage(decodingOf(options));
  const place = { ...options, ...lastingAt(location, options) };
  const { path, storage } = place;
  const { samples, labels } = options.shared === undefined
    ? await runAsync(openLabelled(place), signal)
    : { ...options.shared, samples: await reopened(options.shared, place) };
  try {
    const findLabel = await loadLabels(options, labels);
    const placed = { ...options, storage, signal: undefined };
    return { path, samples, labels, findLabel, decoder, options: placed };
  } catch (error) {
    samples.close();
    throw error;
  }
}

function* openLabelled(
  { path, storage, onWarning }: GulpOptions & { readonly path: string },
): Steps<Pick<OpenedVideos<unknown>, "samples" | "labels">> {
  const opened = yield* openDirectory(path, { storage, onWarning });
  const { samples, listing } = opened;
  try {
    if (samples.shards.shards.length === 0) throw noChunks(path);
    const labels = yield* readLabels(listing.labelPath, storage);
    return { samples, labels };
  } catch (error) {
    samples.close();
    throw error;
  }
}

async function reopened(
  { samples }: SharedVideos,
  options: WaitOptions & LocationOptions,
): Promise<GulpSamples> {
  return await reopenSamples(samples, options) as GulpSamples;
}

/**
 * Videos of a gulp directory by number, with their labels: base of {@linkcode GulpImageDataset} and
 * {@linkcode GulpVideoDataset}.
 *
 * @typeParam In Input of transforms.
 * @typeParam Data Data of samples.
 * @typeParam Label Label of samples.
 */
export abstract class GulpDataset<In, Data, Label> extends SamplesDataset<
  Video<Uint8Array<ArrayBuffer>>,
  { readonly data: Data; readonly label: Label; readonly id: string }
> {
  readonly #opened: OpenedVideos<In>;
  readonly #kind: SampleKind<In>;
  readonly #run: TransformFunction<In, unknown>;

  /** Takes ownership of an opened directory. */
  protected constructor(opened: OpenedVideos<In>, kind: SampleKind<In>) {
    super(new SamplesReader(opened.samples));
    const { path, options: { transform, storage } } = opened;
    this.#opened = opened;
    this.#kind = kind;
    this.#run = transform === undefined
      ? (input) => input
      : plannedStep(transform);
    openedFrom(this, openGulp, path, { storage });
  }

  /** Label numbers of `label2idx.json`; `undefined` if there is no such file. */
  get label2idx(): ReadonlyMap<string, number> | undefined {
    return this.#opened.labels;
  }

  /**
   * Reads, decodes and transforms samples.
   *
   * @throws {IndexError} If there is no such video.
   * @throws {DataError} With code `sample-failed` if a sample cannot be read, decoded, transformed or labelled; names
   *   the id and the file.
   */
  override async get(
    indices: readonly number[],
    options: GetOptions = {},
  ): Promise<{
    /** Image or clip. */
    readonly data: Data;
    /** Label. */
    readonly label: Label;
    /** Id of the video. */
    readonly id: string;
  }[]> {
    const { samples, findLabel, path } = this.#opened;
    requireIndices(indices, this.length, () => path, samples.unit);
    return await makeSamples(indices, options, async (i, random, take) => {
      const index = indices[i]!;
      const id = samples.keyOf(index);
      const { signal } = options;
      const { data, meta } = await this.#make(index, random, take, signal);
      return { data, label: await findLabel(meta, id) as Label, id };
    }, {
      describe: (index) => {
        const path = this.fileOf(index);
        const id = shownId(samples.keyOf(index));
        return { path, name: `video ${id} of ${path}` };
      },
      inFlight: this.#kind.inFlight,
    });
  }

  /** Prefetches the frames of samples on a server and returns their bytes. */
  override prefetch(
    indices: readonly number[],
    { seed = 0, epoch = 0 }: GetOptions = {},
  ): number {
    let bytes = 0;
    for (const index of indices) {
      if (!isIndex(index, this.length)) continue;
      const place = this.#opened.samples.shards.at(index);
      const random = new Random(seed, epoch, index);
      const selection = this.#selectionOf(place, random);
      bytes += place.chunk.prefetchVideo(place.video, selection);
    }
    return bytes;
  }

  /**
   * Returns the remote constructor for another thread.
   *
   * @throws {DataError} With code `not-portable` if an option is a function, or if the class extends the library's.
   */
  override [RECIPE](): Recipe {
    const { Class, module, options: own } = this.#kind;
    requireClass(this, Class);
    const { path, samples, labels, options } = this.#opened;
    const { transform, storage } = options;
    const again = {
      ...decodingOf(options),
      shared: { samples: samples.share(), labels },
      storage: storageArgument(storage, path),
      ...labelArguments(options),
      ...own,
      transform: transform && stepArgument(transform, "The option transform"),
    };
    return { module, name: Class.name, how: "open", args: [path, again] };
  }

  /** Returns the frames of a video to read; `undefined` for all. */
  #selectionOf(
    { chunk: { meta }, video }: VideoPlace,
    random: Random,
  ): number[] | undefined {
    const count = meta.columns.frameCounts[video]!;
    const chosen = this.#kind.choose?.(count, random);
    return chosen?.length === count ? undefined : chosen;
  }

  async #make(
    index: number,
    random: Random,
    take: TakeArray,
    signal: AbortSignal | undefined,
  ) {
    const { samples, decoder } = this.#opened;
    const { assertCount, input, finish } = this.#kind;
    const place = samples.shards.at(index);
    const selection = this.#selectionOf(place, random);
    const reading = place.chunk.readVideo(place.video, selection);
    const { frames, meta } = await runAsync(reading, signal);
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
    `Cannot open ${path}: it has no data_K.gulp with meta_K.gmeta. Give ` +
      "the directory that chunks were written to",
    { path },
  );
}
