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

/** Options of {@linkcode VideoFolderAdapter}; all frames unless a rate is given. */
export interface VideoFolderOptions extends ListedOptions, VideoOptions {
  /** Directory of the videos. */
  readonly folder: string | URL;
  /** How names of videos end; `.mp4` or `.webm` unless given. */
  readonly fileExtensions?: readonly string[] | undefined;
}

/**
 * Videos in directories named by their labels, `FOLDER/LABEL/*.mp4`, at any depth.
 *
 * Ids are `LABEL-NAME`; the meta data are `id`, `label`, `path` (of the directory) and `idx`, the
 * label's number. A directory may be given with or without a slash at its end.
 */
export class VideoFolderAdapter
  extends LabelledAdapter<VideoFolderOptions, FoundFile> {
  /** Where threads find this class. */
  static readonly module: string = import.meta.url;
  /** The options it takes. */
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

/** A video that a JSON file describes. */
export interface DescribedVideo extends ListedVideo, FrameFile {
  /** What the JSON file says; `undefined` where it does not have the video. */
  readonly meta: { readonly [key: string]: JsonValue } | undefined;
}

/** Options of {@linkcode ActivitynetAdapter}; all frames unless a rate is given. */
export interface ActivitynetOptions extends ListedOptions, VideoOptions {
  /** The data set's JSON file. */
  readonly jsonFile: string | URL;
  /** Directory of the videos. */
  readonly folder: string | URL;
  /** Which subset: `training` unless given, `validation`, `testing`. */
  readonly phase?: string | undefined;
}

/**
 * ActivityNet: a JSON file that has `database`, an object of videos by their ids, and videos
 * `FOLDER/ID.EXTENSION`. The videos of one subset are gulped, as far as they are there, in the order of
 * their names; downloads that are not complete (`.part`) are left out.
 *
 * The meta data are what the JSON file says of the video.
 */
export class ActivitynetAdapter
  extends ListedAdapter<ActivitynetOptions, DescribedVideo> {
  /** Where threads find this class. */
  static readonly module: string = import.meta.url;
  /** The options it takes. */
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

/** Options of {@linkcode KineticsAdapter}; all frames unless a rate is given. */
export interface KineticsOptions extends ListedOptions, VideoOptions {
  /** The data set's JSON file. */
  readonly jsonFile: string | URL;
  /** Where the directories of the videos are. */
  readonly folder: string | URL;
}

const clipFrames = fileFrames();

/**
 * Kinetics, trimmed: a JSON file, an object of videos by their ids, and clips
 * `FOLDER/LABEL/ID_START_END.mp4`, start and end in seconds of six digits, in the order of their paths.
 *
 * The meta data are what the JSON file says of the video; a clip that it does not have fails.
 */
export class KineticsAdapter
  extends ListedAdapter<KineticsOptions, DescribedVideo> {
  /** Where threads find this class. */
  static readonly module: string = import.meta.url;
  /** The options it takes. */
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
            // Ids may hold `_00` themselves.
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
