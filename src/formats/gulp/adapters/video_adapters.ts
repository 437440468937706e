import { basename } from "node:path";
import { byCodePoint } from "../../../base/names.ts";
import {
  directoriesIn,
  filesByFolder,
  filesIn,
  soughtByFolder,
  withoutSlash,
} from "./find_files.ts";
import {
  fileFrames,
  type VideoOptions,
  videoOptions,
} from "./frame_sources.ts";
import { inputError } from "./input_error.ts";
import {
  LabelledAdapter,
  type LabelledVideo,
  LISTED_OPTIONS,
  ListedAdapter,
  type ListedOptions,
} from "./listed_adapter.ts";
import {
  type AdapterOption,
  option,
  type OptionsOf,
  place,
} from "./options.ts";
import { entryOf, membersOf, readMembers } from "./read_lists.ts";

/**
 * Videos in directories named by label, `FOLDER/LABEL/*.mp4`, at any depth.
 *
 * Ids are `LABEL-NAME`. Metadata: `id`, `label`, `path` (of the directory) and `idx`, the label's number. `folder` may
 * end in a slash.
 */
export class VideoFolderAdapter extends LabelledAdapter<
  ListedOptions,
  LabelledVideo & { readonly path: string }
> {
  /** Module URL, from which worker threads import this class. */
  static readonly module: string = import.meta.url;
  /** Declared options. */
  static override readonly options: readonly AdapterOption[] = [
    place("folder", "Directory of the videos, FOLDER/LABEL/NAME.mp4"),
    option(
      "fileExtensions",
      "strings",
      [".mp4", ".webm"],
      "Suffix of the videos",
    ),
    ...videoOptions(0),
    ...LISTED_OPTIONS,
  ];

  /**
   * Lists the videos.
   *
   * @param options Without `frameRate`, all frames are taken.
   */
  constructor(
    options: ListedOptions & VideoOptions & {
      /** Directory of the videos. */
      readonly folder: string | URL;
      /** Endings of video names; `.mp4` and `.webm` by default. */
      readonly fileExtensions?: readonly string[] | undefined;
    },
  ) {
    super(options, {
      options: VideoFolderAdapter.options,
      list: (
        { folder, fileExtensions }: OptionsOf<typeof VideoFolderAdapter>,
      ) => filesByFolder(folder, fileExtensions!),
      frames: fileFrames(),
      sought: (
        { folder, fileExtensions }: OptionsOf<typeof VideoFolderAdapter>,
      ) => soughtByFolder("videos", folder, fileExtensions!),
    });
  }
}

/**
 * ActivityNet: a JSON file whose `database` is an object of videos by id, and videos `FOLDER/ID.EXTENSION`. Gulps the
 * videos of one subset that exist, in name order; skips incomplete downloads (`.part`).
 *
 * Metadata: the video's entry in the JSON file.
 */
export class ActivitynetAdapter extends ListedAdapter<
  ListedOptions,
  Omit<LabelledVideo, "label"> & { readonly path: string }
> {
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

  /**
   * Reads the JSON file and lists the videos.
   *
   * @param options Without `frameRate`, all frames are taken.
   */
  constructor(
    options: ListedOptions & VideoOptions & {
      /** The data set's JSON file. */
      readonly jsonFile: string | URL;
      /** Directory of the videos. */
      readonly folder: string | URL;
      /** Subset: `training` (the default), `validation` or `testing`. */
      readonly phase?: string | undefined;
    },
  ) {
    super(options, {
      options: ActivitynetAdapter.options,
      list: (
        { jsonFile, folder, phase }: OptionsOf<typeof ActivitynetAdapter>,
      ) => {
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
      sought: (
        { jsonFile, folder, phase }: OptionsOf<typeof ActivitynetAdapter>,
      ) =>
        `videos found in ${folder} (looked for ids of the subset ${phase} in ${jsonFile})`,
    });
  }
}

const clipFrames = fileFrames();

/**
 * Trimmed Kinetics: a JSON file that holds an object of videos by id, and clips `FOLDER/LABEL/ID_START_END.mp4`, with
 * start and end in seconds of six digits, in path order.
 *
 * Metadata: the video's entry in the JSON file. A clip without an entry fails.
 */
export class KineticsAdapter extends ListedAdapter<
  ListedOptions,
  Omit<LabelledVideo, "label"> & { readonly path: string }
> {
  /** Module URL, from which worker threads import this class. */
  static readonly module: string = import.meta.url;
  /** Declared options. */
  static override readonly options: readonly AdapterOption[] = [
    place("jsonFile", "The data set's JSON file"),
    place("folder", "Directory of the clips, FOLDER/LABEL/ID_START_END.mp4"),
    ...videoOptions(0),
    ...LISTED_OPTIONS,
  ];

  /**
   * Reads the JSON file and lists the clips.
   *
   * @param options Without `frameRate`, all frames are taken.
   */
  constructor(
    options: ListedOptions & VideoOptions & {
      /** The data set's JSON file. */
      readonly jsonFile: string | URL;
      /** Directory that holds the directories of the videos. */
      readonly folder: string | URL;
    },
  ) {
    super(options, {
      options: KineticsAdapter.options,
      list: ({ jsonFile, folder }: OptionsOf<typeof KineticsAdapter>) => {
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
      frames: async function* (
        clip,
        options: OptionsOf<typeof KineticsAdapter>,
        wait,
      ) {
        if (clip.meta === undefined) {
          const what = `${options.jsonFile} has no entry ${clip.id}`;
          throw inputError(clip.path, what);
        }
        yield* clipFrames(clip, options, wait);
      },
      sought: ({ folder }: OptionsOf<typeof KineticsAdapter>) =>
        soughtByFolder("clips", folder, [".mp4"]),
    });
  }
}
