import { parseExactJson } from "../../../codecs/json/value.ts";
import { MsgpackFloat } from "../../../codecs/msgpack/mod.ts";
import { localPath } from "../../../io/storage/local_path.ts";
import { filesIn, join, onlyFileIn } from "./find_files.ts";
import {
  fileFrames,
  imageFrames,
  type ImageOptions,
  imageOptions,
  type VideoOptions,
  videoOptions,
} from "./frame_sources.ts";
import { inputError } from "./input_error.ts";
import {
  LabelledAdapter,
  type LabelledVideo,
  LISTED_OPTIONS,
  type ListedOptions,
} from "./listed_adapter.ts";
import {
  type AdapterOption,
  assertOptions,
  option,
  type OptionsOf,
  type OptionTaker,
  place,
} from "./options.ts";
import { membersOf, readCsvRows, readItems } from "./read_lists.ts";

/**
 * 20BN data set with a JSON list `[{"id": …, "template": …}, …]` and videos `FOLDER/ID/*.mp4`.
 *
 * Metadata: `id`, `label` and `idx`, the label's number.
 */
export class Custom20BNJsonVideoAdapter extends LabelledAdapter<
  ListedOptions,
  LabelledVideo & { readonly path: string }
> {
  /** Module URL, from which worker threads import this class. */
  static readonly module: string = import.meta.url;
  /** Declared options. */
  static override readonly options: readonly AdapterOption[] = [
    place("jsonFile", "List of the videos, .json or .json.gz"),
    place("folder", "Directory of the videos, FOLDER/ID/*.mp4"),
    ...videoOptions(8),
    option("labelName", "string", "template", "Key of the label in the list"),
    ...LISTED_OPTIONS,
  ];

  /**
   * Reads the list.
   *
   * @param options `frameRate` is 8 by default.
   */
  constructor(
    options: ListedOptions & VideoOptions & {
      /** List of the videos: `.json` or `.json.gz`. */
      readonly jsonFile: string | URL;
      /** Directory that holds a directory of each video, named by its id. */
      readonly folder: string | URL;
      /** Key of the label in the list; `template` by default. */
      readonly labelName?: string | undefined;
    },
  ) {
    super(options, {
      options: Custom20BNJsonVideoAdapter.options,
      list: (
        { jsonFile, folder, labelName }: OptionsOf<
          typeof Custom20BNJsonVideoAdapter
        >,
      ) => {
        if (!/\.json(\.gz)?$/.test(jsonFile)) {
          throw inputError(jsonFile, "it must be a .json or .json.gz file");
        }
        return readItems(jsonFile, "list of videos").map((item, i) => {
          const { id, label } = entryOf(
            jsonFile,
            `entry ${i}`,
            item,
            labelName!,
          );
          return { id, label, path: join(folder, String(id)) };
        });
      },
      frames: fileFrames((path) => onlyFileIn(path, ".mp4")),
      sought: ({ jsonFile }: OptionsOf<typeof Custom20BNJsonVideoAdapter>) =>
        `videos listed in ${jsonFile}`,
    });
  }
}

/** Returns the id and the label of a list entry. */
function entryOf(
  list: string,
  entry: string,
  item: string,
  labelName: string,
): {
  readonly id: string | number | bigint;
  readonly label: LabelledVideo["label"];
} {
  const fields = new Map(
    [...membersOf(list, item, entry)]
      .map(([key, text]) => [key, parseExactJson(text)]),
  );
  const id = fields.get("id");
  const isId = typeof id === "string" || typeof id === "bigint" ||
    Number.isSafeInteger(id);
  if (!isId) {
    throw inputError(list, `${entry} has no id that is a string or an integer`);
  }
  const label = fields.get(labelName);
  if (label === undefined) {
    const keys = [...fields.keys()].join(", ");
    const what = `${entry} has no label '${labelName}'; it has ${keys}`;
    throw inputError(list, what);
  }
  const isNested = label !== null && typeof label === "object" &&
    !(label instanceof MsgpackFloat);
  if (isNested) {
    throw inputError(
      list,
      `the label '${labelName}' of ${entry} is a list or an object: labels are text or numbers`,
    );
  }
  return {
    id: id as string | number | bigint,
    label: label as LabelledVideo["label"],
  };
}

/**
 * 20BN data set with a CSV list, `id;label` in each line, and videos `FOLDER/ID.webm`. A line without a label, as in
 * test sets, gets the label `dummy`.
 *
 * Metadata: `id`, `label` and `idx`, the label's number.
 */
export class Custom20BNCsvWebmAdapter extends LabelledAdapter<
  ListedOptions,
  LabelledVideo & { readonly path: string }
> {
  /** Module URL, from which worker threads import this class. */
  static readonly module: string = import.meta.url;
  /** Declared options. */
  static override readonly options: readonly AdapterOption[] = [
    place("csvFile", "List of the videos, `id;label` in each line"),
    place("folder", "Directory of the videos, FOLDER/ID.webm"),
    ...videoOptions(12),
    option("labelName", "string", "label", "Column of the label", [
      "label",
      "id",
    ]),
    ...LISTED_OPTIONS,
  ];

  /**
   * Takes the rows of a list; {@linkcode Custom20BNCsvWebmAdapter.open} reads them.
   *
   * @param options `frameRate` is 12 by default.
   * @param rows Fields of each row.
   */
  constructor(
    options: ListedOptions & VideoOptions & {
      /** List of the videos, in CSV. */
      readonly csvFile: string | URL;
      /** Directory of the videos, each named by its id. */
      readonly folder: string | URL;
      /** Column of the label; `label` by default. */
      readonly labelName?: "label" | "id" | undefined;
    },
    rows: readonly (readonly string[])[],
  ) {
    super(options, {
      options: Custom20BNCsvWebmAdapter.options,
      list: (
        { folder, labelName }: OptionsOf<typeof Custom20BNCsvWebmAdapter>,
      ) =>
        rows.map(([id = "", label = "dummy"]) => ({
          id,
          label: labelName === "id" ? id : label,
          path: join(folder, `${id}.webm`),
        })),
      frames: fileFrames(),
      sought: ({ csvFile }: OptionsOf<typeof Custom20BNCsvWebmAdapter>) =>
        `videos listed in ${csvFile}`,
    });
  }

  /** Reads the list. */
  static async open(
    options: ConstructorParameters<typeof Custom20BNCsvWebmAdapter>[0],
  ): Promise<Custom20BNCsvWebmAdapter> {
    return new this(options, await readRows(this, options));
  }
}

/**
 * 20BN data set with a CSV list, `id;label` in each line, and frames `FOLDER/ID/*.jpg` in name order. JPEGs that need
 * no resizing are stored unchanged.
 *
 * Metadata: `id`, `label` and `idx`, the label's number.
 */
export class Custom20BNCsvJpegAdapter extends LabelledAdapter<
  ListedOptions,
  LabelledVideo & { readonly path: string }
> {
  /** Module URL, from which worker threads import this class. */
  static readonly module: string = import.meta.url;
  /** Declared options. */
  static override readonly options: readonly AdapterOption[] = [
    place("csvFile", "List of the videos, `id;label` in each line"),
    place("folder", "Directory of the frames, FOLDER/ID/*.jpg"),
    ...imageOptions("frameSize"),
    ...LISTED_OPTIONS,
  ];

  /**
   * Takes the rows of a list; {@linkcode Custom20BNCsvJpegAdapter.open} reads them.
   *
   * @param rows Fields of each row.
   */
  constructor(
    options: ListedOptions & ImageOptions & {
      /** List of the videos, in CSV. */
      readonly csvFile: string | URL;
      /** Directory that holds a directory of frames for each id. */
      readonly folder: string | URL;
      /** Short edge of the frames in pixels; -1, the default, keeps their size. */
      readonly frameSize?: number | undefined;
    },
    rows: readonly (readonly string[])[],
  ) {
    super(options, {
      options: Custom20BNCsvJpegAdapter.options,
      list: ({ csvFile, folder }: OptionsOf<typeof Custom20BNCsvJpegAdapter>) =>
        rows.map(([id, label], i) => {
          if (id !== undefined && label !== undefined) {
            return { id, label, path: join(folder, id) };
          }
          const what = `row ${i + 1} has no label: give \`id;label\``;
          throw inputError(csvFile, what);
        }),
      frames: imageFrames((path) => filesIn(path, [".jpg"])),
      sought: ({ csvFile }: OptionsOf<typeof Custom20BNCsvJpegAdapter>) =>
        `videos listed in ${csvFile}`,
    });
  }

  /** Reads the list. */
  static async open(
    options: ConstructorParameters<typeof Custom20BNCsvJpegAdapter>[0],
  ): Promise<Custom20BNCsvJpegAdapter> {
    return new this(options, await readRows(this, options));
  }
}

async function readRows(
  Adapter: OptionTaker,
  options: { readonly csvFile: string | URL },
): Promise<string[][]> {
  assertOptions(Adapter, options);
  return await readCsvRows(localPath(options.csvFile));
}
