import type { Image } from "../../../codecs/image/image.ts";
import { GulpDirectory } from "../read/directory.ts";
import type { RawVideo } from "../read/decoding.ts";
import { shownId } from "../check/faults.ts";
import type { FrameSelection } from "../read/frame_selection.ts";
import { FormatError } from "../../../errors.ts";
import {
  lastingPathOf,
  LOCAL_DISK,
  type Storage,
} from "../../../io/storage/storage.ts";
import type { GetOptions } from "../../../data/dataset.ts";
import { Random } from "../../../data/random/random.ts";
import { storageArgument } from "../../../data/recipe.ts";
import {
  DecodeImage,
  type DecodeImageOptions,
} from "../../../data/transforms/decode_image.ts";
import { inFlight } from "../../../data/in_flight.ts";
import { sampleFailed } from "../../../data/transforms/transform_samples.ts";
import {
  type AnyLabelOptions,
  type GulpLabelOptions,
  GulpLabels,
  type LabelChoice,
  type LabelOf,
} from "./gulp_labels.ts";
import { hasSample } from "../../../data/datasets/has_sample.ts";

/** Options of both datasets of gulp directories. */
export interface GulpDatasetOptions<
  Choice extends LabelChoice = LabelChoice,
  Found = LabelOf<Choice>,
  Label = Found,
> extends GulpLabelOptions<Choice, Found, Label>, DecodeImageOptions {
  /** Where the directory lies. Defaults to the local disk. */
  readonly storage?: Storage | undefined;
}

/** A sample of a gulp directory. */
export interface GulpSample<Data, Label = number> {
  /** The image, or the clip. */
  readonly data: Data;
  /** What it shows. */
  readonly label: Label;
  /** The video's id. */
  readonly id: string;
}

/** A sample in the making. */
export interface Making {
  readonly index: number;
  readonly id: string;
  /** What is random about it. */
  readonly random: Random;
  readonly signal: AbortSignal | undefined;
}

/** The videos of a gulp directory by number, with their labels: what its datasets have in common. */
export class GulpVideos<Label> {
  /** The numbers of labels, where there is `label2idx.json`. */
  readonly labels: ReadonlyMap<string, number> | undefined;
  readonly #directory: GulpDirectory<Uint8Array<ArrayBuffer>>;
  readonly #options: DecodeImageOptions & { readonly storage: Storage };
  readonly #decoder: DecodeImage;
  readonly #finder: GulpLabels;
  /** Per chunk: the number behind that of its last video, and its data file. */
  readonly #chunks: readonly { readonly end: number; readonly path: string }[];

  private constructor(
    directory: GulpDirectory<Uint8Array<ArrayBuffer>>,
    labels: ReadonlyMap<string, number> | undefined,
    finder: GulpLabels,
    options: DecodeImageOptions & { readonly storage: Storage },
    decoder: DecodeImage,
  ) {
    this.#directory = directory;
    this.labels = labels;
    this.#finder = finder;
    this.#options = options;
    this.#decoder = decoder;
    let end = 0;
    this.#chunks = [...directory].map(({ length, dataPath }) => ({
      end: end += length,
      path: dataPath,
    }));
  }

  /** Opens a directory. */
  static async open<Label>(
    location: string | URL,
    options:
      & AnyLabelOptions
      & DecodeImageOptions
      & Pick<GulpDatasetOptions, "storage">,
  ): Promise<GulpVideos<Label>> {
    const { codec, colorspace, shortEdge, storage = LOCAL_DISK } = options;
    const decoding = { codec, colorspace, shortEdge };
    const decoder = new DecodeImage(decoding);
    const path = lastingPathOf(location, storage);
    const undecoded = { decode: false, storage } as const;
    const directory = await GulpDirectory.open(path, undecoded);
    try {
      if (directory.numChunks === 0) throw noChunks(directory.path);
      const labels = await directory.labels();
      const finder = await GulpLabels.load(options, labels);
      const again = { ...decoding, storage };
      return new GulpVideos(directory, labels, finder, again, decoder);
    } catch (error) {
      directory.close();
      throw error;
    }
  }

  /** How many videos there are. */
  get length(): number {
    return this.#directory.length;
  }

  /** How many frames a video has. */
  frameCount(id: string): number {
    return this.#directory.frameCount(id);
  }

  /** The data file that a video lies in. */
  fileOf(index: number): string | undefined {
    if (!hasSample(this, index)) return undefined;
    let low = 0;
    let high = this.#chunks.length;
    while (low < high) {
      const middle = low + high >>> 1;
      if (this.#chunks[middle]!.end <= index) low = middle + 1;
      else high = middle;
    }
    return this.#chunks[low]?.path;
  }

  /** Reads frames of a video as they are stored. */
  async read(
    { id, signal }: Making,
    selection?: FrameSelection,
  ): Promise<RawVideo> {
    return await this.#directory.getRaw(id, selection, { signal });
  }

  /** Decodes frames, some at a time. */
  async decode(
    frames: readonly Uint8Array[],
    { signal }: Making,
  ): Promise<Image[]> {
    return await inFlight(
      frames.length,
      (i) => this.#decoder.apply(frames[i]!),
      signal,
    );
  }

  /**
   * Makes the samples of a batch, several at a time.
   *
   * @param make Makes the data of a sample, and says what its video's meta_data is.
   * @throws {IndexError} If there is no such sample.
   * @throws {DataError} With code `sample-failed` if one cannot be made; it names the video and the file.
   */
  async samples<Data>(
    indices: readonly number[],
    { seed = 0, epoch = 0, signal }: GetOptions,
    make: (making: Making) => Promise<{ data: Data; meta: RawVideo["meta"] }>,
    most?: number,
  ): Promise<GulpSample<Data, Label>[]> {
    const ids = indices.map((index) => this.#directory.idAt(index));
    return await inFlight(
      indices.length,
      async (i) => {
        const index = indices[i]!;
        const id = ids[i]!;
        const random = new Random(seed, epoch, index);
        try {
          const { data, meta } = await make({ index, id, random, signal });
          const label = await this.#finder.of(meta, id) as Label;
          return { data, label, id };
        } catch (cause) {
          if (signal?.aborted) throw cause;
          const path = this.fileOf(index);
          const what = `sample ${index}, video ${shownId(id)} of ${path},`;
          throw sampleFailed(index, what, path, cause);
        }
      },
      signal,
      most,
    );
  }

  /**
   * How another thread opens it, as arguments of a recipe.
   *
   * @throws {DataError} With code `not-portable` if an option is a function.
   */
  arguments(): [path: string, options: Record<string, unknown>] {
    const { path } = this.#directory;
    const storage = storageArgument(this.#options.storage, path);
    return [path, { ...this.#options, storage, ...this.#finder.arguments() }];
  }

  /** Closes the files. */
  close(): void {
    this.#directory.close();
  }
}

function noChunks(path: string): FormatError {
  return new FormatError(
    "missing-data",
    `${path} has no data_K.gulp with meta_K.gmeta: give the directory that chunks were written to`,
    { path },
  );
}
