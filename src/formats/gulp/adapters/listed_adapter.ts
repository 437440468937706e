import { formatJson } from "../../../codecs/json/format.ts";
import { type JsonValue, parseJson } from "../../../codecs/json/value.ts";
import { MsgpackFloat } from "../../../codecs/msgpack/mod.ts";
import type { WaitOptions } from "../../../io/storage/byte_source.ts";
import { localPath } from "../../../io/storage/local_path.ts";
import { shuffled } from "../ids/video_order.ts";
import { idsThere } from "../ingest/ingest_target.ts";
import {
  AbstractDatasetAdapter,
  type AdaptedVideo,
  type ChunkSlice,
} from "./dataset_adapter.ts";
import { LabelNumbers } from "./label_numbers.ts";
import type { makeAdapter } from "./load_adapter.ts";
import { type AdapterOption, completed, option } from "./options.ts";

/** Options of all adapters that list their videos. */
export interface ListedOptions {
  /** Directory of the chunks, for `label2idx.json` and existing ids. */
  readonly outputFolder?: string | URL | undefined;
  /** Whether to shuffle the videos. */
  readonly shuffle?: boolean | undefined;
  /** Seed of the shuffle; 0 by default. */
  readonly seed?: number | undefined;
  /** Whether to skip videos whose ids occurred before, or exist in `outputFolder`. */
  readonly removeDuplicateIds?: boolean | undefined;
  /** Ids to skip, instead of those in `outputFolder`. */
  readonly withoutIds?: readonly string[] | undefined;
}

/** Declarations of {@linkcode ListedOptions}. */
export const LISTED_OPTIONS: readonly AdapterOption[] = [
  option("shuffle", "boolean", false, "Shuffle the videos"),
  option("seed", "integer", 0, "Random seed of the shuffle"),
  option(
    "removeDuplicateIds",
    "boolean",
    false,
    "Skip videos whose ids are there already",
  ),
];

/** A video in a list, with its label. */
export interface LabelledVideo {
  /** Id, as it is in the metadata. */
  readonly id: JsonValue;
  /** Metadata other than the id and the label. */
  readonly meta?: AdaptedVideo["meta"] | undefined;
  /** Label; `1.0` in JSON is a {@linkcode MsgpackFloat}. */
  readonly label: null | boolean | number | bigint | string | MsgpackFloat;
}

type DataSet<
  Options extends ListedOptions,
  Video extends Omit<LabelledVideo, "label">,
> = ConstructorParameters<typeof ListedAdapter<Options, Video>>[1];

/** Adapter that lists all videos when constructed, and reads frames on demand. */
export class ListedAdapter<
  Options extends ListedOptions,
  Video extends Omit<LabelledVideo, "label">,
> extends AbstractDatasetAdapter {
  readonly #dataSet: DataSet<Options, Video>;
  readonly #options: Parameters<DataSet<Options, Video>["list"]>[0];
  readonly #videos: readonly Video[];
  readonly #withoutIds: readonly string[] | undefined;
  /** Number of videos, including those that were skipped. */
  readonly #found: number;

  /**
   * Lists the videos, skips those excluded, and shuffles the rest if asked to.
   *
   * @param options All options of the adapter.
   * @param dataSet How to read the data set; called after the options are checked. `list` and `frames` receive them with
   *   their defaults, and with paths instead of URLs.
   */
  constructor(options: Options, dataSet: {
    /** Declared options. */
    readonly options: readonly AdapterOption[];
    // Methods, since their parameters may be narrower: each adapter here takes more than `ListedOptions`.
    /** Lists the videos. */
    list(
      options: { readonly [K in keyof Options]: Exclude<Options[K], URL> },
    ): Video[];
    /** Reads a video's frames, on demand. */
    frames(
      video: Video,
      options: { readonly [K in keyof Options]: Exclude<Options[K], URL> },
      wait: WaitOptions,
    ): AdaptedVideo["frames"];
    /** Says what is listed, and where, for an error: `clips found in data/ (looked for .mp4)`. */
    sought?(
      options: { readonly [K in keyof Options]: Exclude<Options[K], URL> },
    ): string;
  }) {
    super(options);
    this.#dataSet = dataSet;
    this.#options = completed(options, dataSet.options);
    const videos = dataSet.list(this.#options);
    const { shuffle = false, seed = 0, outputFolder } = options;
    if (options.removeDuplicateIds === true) {
      // The ids in the directory change while it is written: other threads get this snapshot.
      this.#withoutIds = options.withoutIds ??
        idsThere(outputFolder, videos.map(({ id }) => String(id)));
    }
    const without = new Set(this.#withoutIds ?? options.withoutIds);
    const kept = videos.filter(({ id }) => {
      if (without.has(String(id))) return false;
      if (this.#withoutIds !== undefined) without.add(String(id));
      return true;
    });
    this.#videos = shuffle ? shuffled(kept, seed) : kept;
    this.#found = videos.length;
  }

  /** Number of videos. */
  get length(): number {
    return this.#videos.length;
  }

  /** Ids of all videos. */
  *ids(): Iterable<string> {
    for (const { id } of this.#videos) yield String(id);
  }

  /** Says where no videos were found, or that all are skipped. */
  whyEmpty(): string {
    const sought = this.#dataSet.sought?.(this.#options) ?? "videos listed";
    return this.#found === 0
      ? `no ${sought}`
      : `no new ${sought}: all ${this.#found} are skipped by their ids`;
  }

  /** Remote constructor for other threads, which makes this adapter with the same videos. */
  override get recipe(): Parameters<typeof makeAdapter>[0] | undefined {
    const recipe = super.recipe;
    const withoutIds = this.#withoutIds;
    return recipe === undefined || withoutIds === undefined
      ? recipe
      : { ...recipe, options: { ...recipe.options, withoutIds } };
  }

  /** Iterates over the videos, or a slice of them. */
  async *iterData(
    { start, stop }: ChunkSlice = { start: 0, stop: this.length },
    options: WaitOptions = {},
  ): AsyncGenerator<AdaptedVideo, void> {
    for (const video of this.#videos.slice(start, stop)) {
      yield {
        id: String(video.id),
        meta: this.metaOf(video),
        frames: this.framesOf(video, options),
      };
    }
  }

  /** Returns the metadata of a video. */
  protected metaOf({ meta = {} }: Video): AdaptedVideo["meta"] {
    return meta;
  }

  /** Reads a video's frames. */
  protected framesOf(
    video: Video,
    options: WaitOptions,
  ): AdaptedVideo["frames"] {
    return this.#dataSet.frames(video, this.#options, options);
  }
}

/** Adapter of labelled videos; labels are numbered in `label2idx.json`. */
export class LabelledAdapter<
  Options extends ListedOptions,
  Video extends LabelledVideo,
> extends ListedAdapter<Options, Video> {
  readonly #labels: LabelNumbers;
  #saved: Promise<void> | undefined;

  /**
   * Lists the videos and numbers their labels, including those of skipped videos.
   *
   * @param options All options of the adapter.
   * @param dataSet How to read the data set; called after the options are checked.
   */
  constructor(
    options: Options,
    dataSet: ConstructorParameters<typeof ListedAdapter<Options, Video>>[1],
  ) {
    let labels: LabelNumbers | undefined;
    super(options, {
      ...dataSet,
      list: (given) => {
        const videos = dataSet.list(given);
        const { outputFolder } = options;
        labels = new LabelNumbers(
          outputFolder === undefined ? undefined : localPath(outputFolder),
          videos.map(({ label }) => label),
        );
        return videos;
      },
    });
    this.#labels = labels!;
  }

  /** Label numbers, as `label2idx.json` will have them. */
  get label2idx(): ReadonlyMap<string, number> {
    return this.#labels.all;
  }

  /**
   * Iterates over the videos, or a slice of them. Writes `label2idx.json` before the first, so that the numbers in
   * chunks are known even after a failure.
   */
  override async *iterData(
    slice?: ChunkSlice,
    options?: WaitOptions,
  ): AsyncGenerator<AdaptedVideo, void> {
    await (this.#saved ??= this.#labels.save());
    yield* super.iterData(slice, options);
  }

  /** Returns the id, the label, other metadata, and the label's number. */
  protected override metaOf({ id, label, meta }: Video): AdaptedVideo["meta"] {
    const idx = this.#labels.of(label);
    if (!(label instanceof MsgpackFloat)) return { id, label, ...meta, idx };
    const exact = formatJson({ id, label, ...meta, idx }); // keeps the decimal point
    return parseJson(exact) as AdaptedVideo["meta"];
  }
}
