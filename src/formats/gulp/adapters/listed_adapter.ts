import { formatJson } from "../../../codecs/json/format.ts";
import { type JsonValue, parseJson } from "../../../codecs/json/value.ts";
import { MsgpackFloat } from "../../../codecs/msgpack/mod.ts";
import type { WaitOptions } from "../../../io/storage/byte_source.ts";
import { localPath } from "../../../io/storage/local_path.ts";
import { shuffled } from "../ids/video_order.ts";
import { idsThere } from "../ingest/ingest_target.ts";
import type { Frames } from "../write/frame_data.ts";
import {
  AbstractDatasetAdapter,
  type AdaptedVideo,
  type AdapterRecipe,
  type ChunkSlice,
} from "./dataset_adapter.ts";
import { type Label, LabelNumbers } from "./label_numbers.ts";
import {
  type AdapterOption,
  type Completed,
  completed,
  option,
} from "./options.ts";

/** Options that all adapters here share. */
export interface ListedOptions {
  /** Directory of the chunks, where labels are numbered and ids looked for. */
  readonly outputFolder?: string | URL | undefined;
  /** Whether to mix the order of the videos. */
  readonly shuffle?: boolean | undefined;
  /** The same seed mixes in the same way; 0 unless given. */
  readonly seed?: number | undefined;
  /** Whether to leave out videos whose ids came before, or are in `outputFolder` already. */
  readonly removeDuplicateIds?: boolean | undefined;
  /** Ids to leave out, instead of looking into `outputFolder`. */
  readonly withoutIds?: readonly string[] | undefined;
}

/** The declarations of {@linkcode ListedOptions}. */
export const LISTED_OPTIONS: readonly AdapterOption[] = [
  option("shuffle", "boolean", false, "Mix the order of the videos"),
  option("seed", "integer", 0, "The same seed mixes in the same way"),
  option(
    "removeDuplicateIds",
    "boolean",
    false,
    "Leave out videos whose ids are there already",
  ),
];

/** A video of a list. */
export interface ListedVideo {
  /** Its id, as meta data have it. */
  readonly id: JsonValue;
  /** What is to be known of it, besides its id and its label where it has one. */
  readonly meta?: AdaptedVideo["meta"] | undefined;
}

/** A video with its label. */
export interface LabelledVideo extends ListedVideo {
  /** The label. */
  readonly label: Label;
}

/** A kind of data sets: its options, what lists its videos, and what makes their frames. */
export interface DataSet<Options extends object, Video extends ListedVideo> {
  /** The options it takes. */
  readonly options: readonly AdapterOption[];
  /** Lists the videos; options have their defaults, and URLs are paths. */
  readonly list: (options: Completed<Options>) => Video[];
  /** Reads a video's frames, when they are asked for. */
  readonly frames: (
    video: Video,
    options: Completed<Options>,
    wait: WaitOptions,
  ) => Frames;
}

/** An adapter that knows all its videos when it is made, and reads frames only when they are asked for. */
export class ListedAdapter<
  Options extends ListedOptions,
  Video extends ListedVideo,
> extends AbstractDatasetAdapter {
  readonly #dataSet: DataSet<Options, Video>;
  readonly #options: Completed<Options>;
  readonly #videos: readonly Video[];
  readonly #withoutIds: readonly string[] | undefined;

  /**
   * Lists the videos, leaves out what is to be left out, and mixes their order.
   *
   * @param options All that the adapter was made with.
   * @param dataSet How to read the data set; called when the options were checked.
   */
  constructor(options: Options, dataSet: DataSet<Options, Video>) {
    super(options);
    this.#dataSet = dataSet;
    this.#options = completed(options, dataSet.options);
    const videos = dataSet.list(this.#options);
    const { shuffle = false, seed = 0, outputFolder } = options;
    if (options.removeDuplicateIds === true) {
      // What the directory has changes while it is written: other threads are told what it had.
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
  }

  /** How many videos there are. */
  get length(): number {
    return this.#videos.length;
  }

  /** The ids of all videos. */
  *ids(): Iterable<string> {
    for (const { id } of this.#videos) yield String(id);
  }

  /** How another thread makes this adapter with the same videos. */
  override get recipe(): AdapterRecipe | undefined {
    const recipe = super.recipe;
    const withoutIds = this.#withoutIds;
    return recipe === undefined || withoutIds === undefined
      ? recipe
      : { ...recipe, options: { ...recipe.options, withoutIds } };
  }

  /** The videos, or those of a slice. */
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

  /** What is to be known of a video. */
  protected metaOf({ meta = {} }: Video): AdaptedVideo["meta"] {
    return meta;
  }

  /** Reads a video's frames. */
  protected framesOf(video: Video, options: WaitOptions): Frames {
    return this.#dataSet.frames(video, this.#options, options);
  }
}

/** A list of videos with labels, which are numbered in `label2idx.json`. */
export class LabelledAdapter<
  Options extends ListedOptions,
  Video extends LabelledVideo,
> extends ListedAdapter<Options, Video> {
  readonly #labels: LabelNumbers;
  #saved: Promise<void> | undefined;

  /**
   * Lists the videos and numbers their labels, also of those that are left out.
   *
   * @param options All that the adapter was made with.
   * @param dataSet How to read the data set; called when the options were checked.
   */
  constructor(options: Options, dataSet: DataSet<Options, Video>) {
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

  /** The numbers of the labels, as `label2idx.json` will have them. */
  get label2idx(): ReadonlyMap<string, number> {
    return this.#labels.all;
  }

  /**
   * The videos, or those of a slice. `label2idx.json` is written before the first: numbers that
   * chunks use are then known, whatever happens.
   */
  override async *iterData(
    slice?: ChunkSlice,
    options?: WaitOptions,
  ): AsyncGenerator<AdaptedVideo, void> {
    await (this.#saved ??= this.#labels.save());
    yield* super.iterData(slice, options);
  }

  /** The id, the label, what else is known, and the label's number. */
  protected override metaOf({ id, label, meta }: Video): AdaptedVideo["meta"] {
    const idx = this.#labels.of(label);
    if (!(label instanceof MsgpackFloat)) return { id, label, ...meta, idx };
    const exact = formatJson({ id, label, ...meta, idx }); // which keeps its point
    return parseJson(exact) as AdaptedVideo["meta"];
  }
}
