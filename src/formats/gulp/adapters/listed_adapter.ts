import type { JsonValue } from "../../../codecs/json/value.ts";
import type { WaitOptions } from "../../../io/storage/byte_source.ts";
import type { Frames } from "../write/frame_data.ts";
import { shuffled } from "../ids/shuffle.ts";
import {
  AbstractDatasetAdapter,
  type AdaptedVideo,
  type AdapterRecipe,
  type ChunkSlice,
} from "./dataset_adapter.ts";
import { idsThere } from "../ingest/ids_there.ts";
import type { AdapterOption } from "./options.ts";

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
  {
    name: "shuffle",
    type: "boolean",
    default: false,
    description: "Mix the order of the videos",
  },
  {
    name: "seed",
    type: "integer",
    default: 0,
    description: "The same seed mixes in the same way",
  },
  {
    name: "removeDuplicateIds",
    type: "boolean",
    default: false,
    description: "Leave out videos whose ids are there already",
  },
];

/** A video of a list. */
export interface ListedVideo {
  /** Its id, as meta data have it. */
  readonly id: JsonValue;
}

/** The numbers of a list's labels. */
export interface ListedLabels {
  /** The numbers, by label. */
  readonly all: ReadonlyMap<string, number>;
  /** Writes them to `label2idx.json`. */
  save(): Promise<void>;
}

/** An adapter that knows all its videos when it is made, and reads frames only when they are asked for. */
export abstract class ListedAdapter<Video extends ListedVideo>
  extends AbstractDatasetAdapter {
  readonly #videos: readonly Video[];
  readonly #withoutIds: readonly string[] | undefined;
  readonly #labels: ListedLabels | undefined;
  #saved: Promise<void> | undefined;

  /**
   * Lists the videos, leaves out what is to be left out, and mixes their order.
   *
   * @param options All that the adapter was made with.
   * @param list Lists the videos; called when the options were checked.
   */
  constructor(
    options: ListedOptions,
    list: () => { videos: Video[]; labels?: ListedLabels | undefined },
  ) {
    super(options);
    const { shuffle = false, seed = 0 } = options;
    const { videos, labels } = list();
    this.#labels = labels;
    let kept: readonly Video[] = videos;
    const { withoutIds = [], outputFolder } = options;
    if (options.removeDuplicateIds === true) {
      // What the directory has changes while it is written: other threads are told what it had.
      this.#withoutIds = options.withoutIds ??
        idsThere(outputFolder, videos.map(({ id }) => String(id)));
      kept = firstOfEach(videos, new Set(this.#withoutIds));
    } else if (withoutIds.length > 0) {
      const left = new Set(withoutIds);
      kept = videos.filter(({ id }) => !left.has(String(id)));
    }
    this.#videos = shuffle ? shuffled(kept, seed) : kept;
  }

  /** How many videos there are. */
  get length(): number {
    return this.#videos.length;
  }

  /** The numbers of the labels, as `label2idx.json` will have them. */
  get label2idx(): ReadonlyMap<string, number> | undefined {
    return this.#labels?.all;
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

  /**
   * The videos, or those of a slice. `label2idx.json` is written before the first: numbers that
   * chunks use are then known, whatever happens.
   */
  async *iterData(
    { start, stop }: ChunkSlice = { start: 0, stop: this.length },
    options: WaitOptions = {},
  ): AsyncGenerator<AdaptedVideo, void> {
    await (this.#saved ??= this.#save());
    for (let i = start; i < Math.min(stop, this.length); i++) {
      const video = this.#videos[i]!;
      yield {
        id: String(video.id),
        meta: this.metaOf(video),
        frames: this.framesOf(video, options),
      };
    }
  }

  /** What is to be known of a video. */
  protected abstract metaOf(
    video: Video,
  ): { readonly [key: string]: JsonValue };

  /** Reads a video's frames. */
  protected abstract framesOf(video: Video, options: WaitOptions): Frames;

  async #save(): Promise<void> {
    await this.#labels?.save();
  }
}

function firstOfEach<Video extends ListedVideo>(
  videos: readonly Video[],
  without: ReadonlySet<string>,
): Video[] {
  const seen = new Set(without);
  return videos.filter(({ id }) => {
    const before = seen.size;
    return seen.add(String(id)).size > before;
  });
}
