import { basename } from "node:path";
import type { JsonValue } from "../../../codecs/json/value.ts";
import { byCodePoint } from "../../../base/names.ts";
import {
  directoriesIn,
  filesByFolder,
  filesIn,
  type FoundFile,
  withoutSlash,
} from "./find_files.ts";
import {
  fileFrames,
  type FrameFile,
  type VideoOptions,
  videoOptions,
} from "./frame_sources.ts";
import { inputError } from "./input_error.ts";
import {
  LabelledAdapter,
  LISTED_OPTIONS,
  ListedAdapter,
  type ListedOptions,
  type ListedVideo,
} from "./listed_adapter.ts";
import { type AdapterOption, option, place } from "./options.ts";
import { entryOf, membersOf, readMembers } from "./read_lists.ts";

/** Options of {@linkcode VideoFolderAdapter}; takes all frames by default. */
export interface VideoFolderOptions extends ListedOptions, VideoOptions {
  /** Directory of the videos. */
  readonly folder: string | URL;
  /** Endings of video names; `.mp4` and `.webm` by default. */
  readonly fileExtensions?: readonly string[] | undefined;
}

/**
 * Videos in directories named by label, `FOLDER/LABEL/*.mp4`, at any depth.
 *
 * Ids are `LABEL-NAME`. Metadata: `id`, `label`, `path` (of the directory) and `idx`, the label's number. `folder` may
 * end in a slash.
 */
export class VideoFolderAdapter
  extends LabelledAdapter<VideoFolderOptions, FoundFile> {
  /** Module URL, from which worker threads import this class. */
  static readonly module: string = import.meta.url;
  /** Declared options. */
  static override readonly options: readonly AdapterOption[] = [
    place("folder", "Directory of the videos, FOLDER/LABEL/NAME.mp4"),
    option(
      "fileExtensions",
      "strings",
      [".mp4", ".webm"],
      "How names of videos end",
    ),
    ...videoOptions(0),
    ...LISTED_OPTIONS,
  ];

  /** Lists the videos. */
  constructor(options: VideoFolderOptions) {
    super(options, {
      options: VideoFolderAdapter.options,
      list: ({ folder, fileExtensions }) =>
        filesByFolder(folder, fileExtensions!),
      frames: fileFrames(),
    });
  }
}

/** A video described by a JSON file. */
export interface DescribedVideo extends ListedVideo, FrameFile {
  /** The JSON file's entry; `undefined` if there is none. */
  readonly meta: { readonly [key: string]: JsonValue } | undefined;
}

/** Options of {@linkcode ActivitynetAdapter}; takes all frames by default. */
export interface ActivitynetOptions extends ListedOptions, VideoOptions {
  /** The data set's JSON file. */
  readonly jsonFile: string | URL;
  /** Directory of the videos. */
  readonly folder: string | URL;
  /** Subset: `training` (the default), `validation` or `testing`. */
  readonly phase?: string | undefined;
}

/**
 * ActivityNet: a JSON file whose `database` is an object of videos by id, and videos `FOLDER/ID.EXTENSION`. Gulps the
 * videos of one subset that exist, in name order; skips incomplete downloads (`.part`).
 *
 * Metadata: the video's entry in the JSON file.
 */
export class ActivitynetAdapter
  extends ListedAdapter<ActivitynetOptions, DescribedVideo> {
  /** Module URL, from which worker threads import this class. */
  static readonly module: string = import.meta.url;
  /** Declared options. */
  static override readonly options: readonly AdapterOption[] = [
    place("jsonFile", "The data set's JSON file"),
    place("folder", "Directory of the videos, FOLDER/ID.EXTENSION"),
    ...videoOptions(0),
    option(
      "phase",
      "string",
      "training",
      "Subset: training, validation or testing",
    ),
    ...LISTED_OPTIONS,
  ];

  /** Reads the JSON file and lists the videos. */
  constructor(options: ActivitynetOptions) {
    super(options, {
      options: ActivitynetAdapter.options,
      list: ({ jsonFile, folder, phase }) => {
        const file = readMembers(jsonFile);
        const database = membersOf(jsonFile, file.get("database"), "database");
        return filesIn(folder, [""]).filter((path) => !path.endsWith("part"))
          .map((path) => {
            const id = basename(path).split(".")[0]!;
            return { id, path, meta: entryOf(jsonFile, database, id) };
          })
          .filter(({ meta }) => meta?.["subset"] === phase);
      },
      frames: fileFrames(),
    });
  }
}

/** Options of {@linkcode KineticsAdapter}; takes all frames by default. */
export interface KineticsOptions extends ListedOptions, VideoOptions {
  /** The data set's JSON file. */
  readonly jsonFile: string | URL;
  /** Directory that holds the directories of the videos. */
  readonly folder: string | URL;
}

const clipFrames = fileFrames();

/**
 * Trimmed Kinetics: a JSON file that holds an object of videos by id, and clips `FOLDER/LABEL/ID_START_END.mp4`, with
 * start and end in seconds of six digits, in path order.
 *
 * Metadata: the video's entry in the JSON file. A clip without an entry fails.
 */
export class KineticsAdapter
  extends ListedAdapter<KineticsOptions, DescribedVideo> {
  /** Module URL, from which worker threads import this class. */
  static readonly module: string = import.meta.url;
  /** Declared options. */
  static override readonly options: readonly AdapterOption[] = [
    place("jsonFile", "The data set's JSON file"),
    place("folder", "Directory of the clips, FOLDER/LABEL/ID_START_END.mp4"),
    ...videoOptions(0),
    ...LISTED_OPTIONS,
  ];

  /** Reads the JSON file and lists the clips. */
  constructor(options: KineticsOptions) {
    super(options, {
      options: KineticsAdapter.options,
      list: ({ jsonFile, folder }) => {
        const entries = readMembers(jsonFile);
        return directoriesIn(withoutSlash(folder))
          .flatMap((directory) => filesIn(directory, [".mp4"])).sort(
            byCodePoint,
          )
          .map((path) => {
            // Ids may contain `_00`.
            const id = basename(path).replace(/(_\d{6}_\d{6})?\.mp4$/, "");
            return { id, path, meta: entryOf(jsonFile, entries, id) };
          });
      },
      frames: async function* (clip, options, wait) {
        if (clip.meta === undefined) {
          const what = `${options.jsonFile} has no entry ${clip.id}`;
          throw inputError(clip.path, what);
        }
        yield* clipFrames(clip, options, wait);
      },
    });
  }
}
