import type { WaitOptions } from "../../../io/storage/byte_source.ts";
import { localPath } from "../../../io/storage/local_path.ts";
import type { Frames } from "../write/frame_data.ts";
import { filesIn, join } from "./find_files.ts";
import {
  frameSizeOption,
  IMAGE_OPTIONS,
  imageFrames,
  type ImageOptions,
} from "./frame_sources.ts";
import { inputError } from "./input_error.ts";
import { LabelledAdapter, type LabelledVideo } from "./labelled_adapter.ts";
import { LISTED_OPTIONS, type ListedOptions } from "./listed_adapter.ts";
import { type AdapterOption, assertOptions } from "./options.ts";
import { readCsvRows } from "./read_lists.ts";

/** Options of {@linkcode Custom20BNCsvJpegAdapter}. */
export interface CsvJpegOptions
  extends ListedOptions, Omit<ImageOptions, "shortEdge"> {
  /** The list. */
  readonly csvFile: string | URL;
  /** Where the directories of the frames are, each named by an id. */
  readonly folder: string | URL;
  /** Short edge of the frames in pixels; -1 unless given: they keep their size. */
  readonly frameSize?: number | undefined;
}

/**
 * Data sets of 20BN: a list in CSV, `id;label` in each line, and frames `FOLDER/ID/*.jpg`, in the
 * order of their names. JPEGs that need no resizing are stored as they are.
 *
 * The meta data are `id`, `label` and `idx`, the label's number.
 */
export class Custom20BNCsvJpegAdapter extends LabelledAdapter<LabelledVideo> {
  /** Where threads find this class. */
  static readonly module: string = import.meta.url;
  /** The options it takes. */
  static override readonly options: readonly AdapterOption[] = [
    {
      name: "csvFile",
      type: "string",
      positional: true,
      description: "List of the videos, `id;label` in each line",
    },
    {
      name: "folder",
      type: "string",
      positional: true,
      description: "Directory of the frames, FOLDER/ID/*.jpg",
    },
    frameSizeOption("frameSize"),
    ...IMAGE_OPTIONS,
    ...LISTED_OPTIONS,
  ];

  readonly #options: CsvJpegOptions;
  readonly #folder: string;

  /**
   * Takes a list that was read; {@linkcode Custom20BNCsvJpegAdapter.open} reads one.
   *
   * @param rows The fields of each row.
   */
  constructor(options: CsvJpegOptions, rows: readonly (readonly string[])[]) {
    super(options, () => videosOf(localPath(options.csvFile), rows));
    this.#options = options;
    this.#folder = localPath(options.folder);
  }

  /** Reads the list. */
  static async open(
    options: CsvJpegOptions,
  ): Promise<Custom20BNCsvJpegAdapter> {
    assertOptions(Custom20BNCsvJpegAdapter, options);
    const rows = await readCsvRows(localPath(options.csvFile));
    return new Custom20BNCsvJpegAdapter(options, rows);
  }

  /** The images in the directory of that id. */
  protected override async *framesOf(
    { id }: LabelledVideo,
    options: WaitOptions,
  ): Frames {
    const { frameSize: shortEdge = -1, reencode, codec } = this.#options;
    const paths = filesIn(join(this.#folder, String(id)), [".jpg"]);
    yield* imageFrames(paths, { shortEdge, reencode, codec }, options);
  }
}

function videosOf(
  path: string,
  rows: readonly (readonly string[])[],
): LabelledVideo[] {
  return rows.map(([id, label], i) => {
    if (id !== undefined && label !== undefined) return { id, label };
    throw inputError(path, `row ${i + 1} has no label: give \`id;label\``);
  });
}
