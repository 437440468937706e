import { parseExactJson } from "../../../codecs/json/value.ts";
import type { WaitOptions } from "../../../io/storage/byte_source.ts";
import { localPath } from "../../../io/storage/local_path.ts";
import type { Frames } from "../write/frame_data.ts";
import { join, onlyFileIn } from "./find_files.ts";
import {
  frameRateOption,
  frameSizeOption,
  framesOfVideo,
} from "./frame_sources.ts";
import { inputError } from "./input_error.ts";
import {
  idOf,
  LabelledAdapter,
  type LabelledVideo,
  labelOf,
} from "./labelled_adapter.ts";
import { LISTED_OPTIONS, type ListedOptions } from "./listed_adapter.ts";
import type { AdapterOption } from "./options.ts";
import { membersOf, readItems } from "./read_lists.ts";

/** Options of {@linkcode Custom20BNJsonVideoAdapter}. */
export interface JsonVideoOptions extends ListedOptions {
  /** The list: `.json` or `.json.gz`. */
  readonly jsonFile: string | URL;
  /** Where the directories of the videos are, each named by an id. */
  readonly folder: string | URL;
  /** Short edge of the frames in pixels; -1 unless given: they keep their size. */
  readonly frameSize?: number | undefined;
  /** Frames per second; 8 unless given, all where it is 0. */
  readonly frameRate?: number | undefined;
  /** The key of the label in the list; `template` unless given. */
  readonly labelName?: string | undefined;
}

/**
 * Data sets of 20BN: a list in JSON, `[{"id": …, "template": …}, …]`, and videos `FOLDER/ID/*.mp4`.
 *
 * The meta data are `id`, `label` and `idx`, the label's number.
 */
export class Custom20BNJsonVideoAdapter extends LabelledAdapter<LabelledVideo> {
  /** Where threads find this class. */
  static readonly module: string = import.meta.url;
  /** The options it takes. */
  static override readonly options: readonly AdapterOption[] = [
    {
      name: "jsonFile",
      type: "string",
      positional: true,
      description: "List of the videos, .json or .json.gz",
    },
    {
      name: "folder",
      type: "string",
      positional: true,
      description: "Directory of the videos, FOLDER/ID/*.mp4",
    },
    frameSizeOption("frameSize"),
    frameRateOption(8),
    {
      name: "labelName",
      type: "string",
      default: "template",
      description: "Key of the label in the list",
    },
    ...LISTED_OPTIONS,
  ];

  readonly #options: JsonVideoOptions;
  readonly #folder: string;

  /** Reads the list. */
  constructor(options: JsonVideoOptions) {
    super(options, () => readVideos(localPath(options.jsonFile), options));
    this.#options = options;
    this.#folder = localPath(options.folder);
  }

  /** The frames of the one video in the directory of that id. */
  protected override async *framesOf(
    { id }: LabelledVideo,
    options: WaitOptions,
  ): Frames {
    const { frameSize, frameRate = 8 } = this.#options;
    const path = onlyFileIn(join(this.#folder, String(id)), ".mp4");
    yield* framesOfVideo(path, { frameSize, frameRate }, options);
  }
}

function readVideos(
  path: string,
  { labelName = "template" }: JsonVideoOptions,
): LabelledVideo[] {
  if (!/\.json(\.gz)?$/.test(path)) {
    throw inputError(path, "it must be a .json or .json.gz file");
  }
  return readItems(path, "list of videos").map((item, i) => {
    const entry = `entry ${i}`;
    const fields = new Map(
      [...membersOf(path, item, entry)]
        .map(([key, text]) => [key, parseExactJson(text)]),
    );
    return {
      id: idOf(path, entry, fields.get("id")),
      label: labelOf(path, entry, fields, labelName),
    };
  });
}
