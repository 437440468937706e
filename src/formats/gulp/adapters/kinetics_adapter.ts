import { type JsonValue, parseJson } from "../../../codecs/json/value.ts";
import type { WaitOptions } from "../../../io/storage/byte_source.ts";
import { localPath } from "../../../io/storage/local_path.ts";
import { byCodePoint } from "../../../names.ts";
import type { Frames } from "../write/frame_data.ts";
import { directoriesIn, filesIn, withoutSlash } from "./find_files.ts";
import {
  frameRateOption,
  frameSizeOption,
  framesOfVideo,
} from "./frame_sources.ts";
import { inputError } from "./input_error.ts";
import {
  LISTED_OPTIONS,
  ListedAdapter,
  type ListedOptions,
  type ListedVideo,
} from "./listed_adapter.ts";
import type { AdapterOption } from "./options.ts";
import { membersOf, readMembers } from "./read_lists.ts";

/** Options of {@linkcode KineticsAdapter}. */
export interface KineticsOptions extends ListedOptions {
  /** The data set's JSON file. */
  readonly jsonFile: string | URL;
  /** Where the directories of the videos are. */
  readonly folder: string | URL;
  /** Short edge of the frames in pixels; -1 unless given: they keep their size. */
  readonly frameSize?: number | undefined;
  /** Frames per second; all unless given. */
  readonly frameRate?: number | undefined;
}

/** A clip of Kinetics. */
export interface KineticsClip extends ListedVideo {
  /** The file. */
  readonly path: string;
  /** What the JSON file says; `undefined` where the JSON file does not have it. */
  readonly meta: { readonly [key: string]: JsonValue } | undefined;
}

/**
 * Kinetics, trimmed: a JSON file, an object of videos by their ids, and clips
 * `FOLDER/LABEL/ID_START_END.mp4`, start and end in seconds of six digits, in the order of their paths.
 *
 * The meta data are what the JSON file says of the video; a clip that it does not have fails.
 */
export class KineticsAdapter extends ListedAdapter<KineticsClip> {
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
      description: "Directory of the clips, FOLDER/LABEL/ID_START_END.mp4",
    },
    frameSizeOption("frameSize"),
    frameRateOption(0),
    ...LISTED_OPTIONS,
  ];

  readonly #options: KineticsOptions;
  readonly #jsonFile: string;

  /** Reads the JSON file and lists the clips. */
  constructor(options: KineticsOptions) {
    super(options, () => ({ videos: findClips(options) }));
    this.#options = options;
    this.#jsonFile = localPath(options.jsonFile);
  }

  /** What the JSON file says. */
  protected override metaOf(
    { meta }: KineticsClip,
  ): { readonly [key: string]: JsonValue } {
    return meta ?? {};
  }

  /** The frames of the clip. */
  protected override async *framesOf(
    { id, path, meta }: KineticsClip,
    options: WaitOptions,
  ): Frames {
    if (meta === undefined) {
      throw inputError(path, `${this.#jsonFile} has no entry ${id}`);
    }
    yield* framesOfVideo(path, this.#options, options);
  }
}

function findClips({ jsonFile, folder }: KineticsOptions): KineticsClip[] {
  const list = localPath(jsonFile);
  const entries = readMembers(list);
  const paths = directoriesIn(withoutSlash(localPath(folder)))
    .flatMap((directory) => filesIn(directory, [".mp4"])).sort(byCodePoint);
  return paths.map((path) => {
    const id = clipId(path.slice(path.lastIndexOf("/") + 1));
    const text = entries.get(id);
    if (text === undefined) return { id, path, meta: undefined };
    membersOf(list, text, `the entry ${id}`);
    const meta = parseJson(text) as { readonly [key: string]: JsonValue };
    return { id, path, meta };
  });
}

/** The id in a file name; ids may hold `_00` themselves. */
function clipId(name: string): string {
  return /^(.*)_\d{6}_\d{6}\.mp4$/s.exec(name)?.[1] ??
    name.slice(0, -".mp4".length);
}
