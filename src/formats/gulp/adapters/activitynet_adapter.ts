import { type JsonValue, parseJson } from "../../../codecs/json/value.ts";
import type { WaitOptions } from "../../../io/storage/byte_source.ts";
import { localPath } from "../../../io/storage/local_path.ts";
import type { Frames } from "../write/frame_data.ts";
import { filesIn } from "./find_files.ts";
import {
  frameRateOption,
  frameSizeOption,
  framesOfVideo,
} from "./frame_sources.ts";
import {
  LISTED_OPTIONS,
  ListedAdapter,
  type ListedOptions,
  type ListedVideo,
} from "./listed_adapter.ts";
import type { AdapterOption } from "./options.ts";
import { membersOf, readMembers } from "./read_lists.ts";

/** Options of {@linkcode ActivitynetAdapter}. */
export interface ActivitynetOptions extends ListedOptions {
  /** The data set's JSON file. */
  readonly jsonFile: string | URL;
  /** Directory of the videos. */
  readonly folder: string | URL;
  /** Short edge of the frames in pixels; -1 unless given: they keep their size. */
  readonly frameSize?: number | undefined;
  /** Frames per second; all unless given. */
  readonly frameRate?: number | undefined;
  /** Which subset: `training` unless given, `validation`, `testing`. */
  readonly phase?: string | undefined;
}

/** A video of ActivityNet. */
export interface ActivitynetVideo extends ListedVideo {
  /** The file. */
  readonly path: string;
  /** What the JSON file says. */
  readonly meta: { readonly [key: string]: JsonValue };
}

/**
 * ActivityNet: a JSON file that has `database`, an object of videos by their ids, and videos
 * `FOLDER/ID.EXTENSION`. The videos of one subset are gulped, as far as they are there, in the order of
 * their names; downloads that are not complete (`.part`) are left out.
 *
 * The meta data are what the JSON file says of the video.
 */
export class ActivitynetAdapter extends ListedAdapter<ActivitynetVideo> {
  /** Where threads find this class. */
  static readonly module: string = import.meta.url;
  /** The options it takes. */
  static override readonly options: readonly AdapterOption[] = [
    {
      name: "jsonFile",
      type: "string",
      positional: true,
      description: "The data set's JSON file",
    },
    {
      name: "folder",
      type: "string",
      positional: true,
      description: "Directory of the videos, FOLDER/ID.EXTENSION",
    },
    frameSizeOption("frameSize"),
    frameRateOption(0),
    {
      name: "phase",
      type: "string",
      default: "training",
      description: "Subset: training, validation or testing",
    },
    ...LISTED_OPTIONS,
  ];

  readonly #options: ActivitynetOptions;

  /** Reads the JSON file and lists the videos. */
  constructor(options: ActivitynetOptions) {
    super(options, () => ({ videos: findClips(options) }));
    this.#options = options;
  }

  /** What the JSON file says. */
  protected override metaOf(
    { meta }: ActivitynetVideo,
  ): { readonly [key: string]: JsonValue } {
    return meta;
  }

  /** The frames of the video. */
  protected override framesOf(
    { path }: ActivitynetVideo,
    options: WaitOptions,
  ): Frames {
    return framesOfVideo(path, this.#options, options);
  }
}

function findClips(
  { jsonFile, folder, phase = "training" }: ActivitynetOptions,
): ActivitynetVideo[] {
  const list = localPath(jsonFile);
  const file = readMembers(list);
  const database = membersOf(list, file.get("database"), "database");
  const clips: ActivitynetVideo[] = [];
  for (const path of filesIn(localPath(folder), [""])) {
    const [id] = path.slice(path.lastIndexOf("/") + 1).split(".");
    const text = database.get(id!);
    if (path.endsWith("part") || text === undefined) continue;
    membersOf(list, text, `the entry ${id}`);
    const meta = parseJson(text) as { readonly [key: string]: JsonValue };
    if (meta["subset"] === phase) clips.push({ id: id!, path, meta });
  }
  return clips;
}
