import type { WaitOptions } from "../../../io/storage/byte_source.ts";
import { localPath } from "../../../io/storage/local_path.ts";
import type { Frames } from "../write/frame_data.ts";
import { join } from "./find_files.ts";
import {
  frameRateOption,
  frameSizeOption,
  framesOfVideo,
} from "./frame_sources.ts";
import { LabelledAdapter, type LabelledVideo } from "./labelled_adapter.ts";
import { LISTED_OPTIONS, type ListedOptions } from "./listed_adapter.ts";
import { type AdapterOption, assertOptions } from "./options.ts";
import { readCsvRows } from "./read_lists.ts";

/** Options of {@linkcode Custom20BNCsvWebmAdapter}. */
export interface CsvWebmOptions extends ListedOptions {
  /** The list. */
  readonly csvFile: string | URL;
  /** Directory of the videos, each named by its id. */
  readonly folder: string | URL;
  /** Short edge of the frames in pixels; -1 unless given: they keep their size. */
  readonly frameSize?: number | undefined;
  /** Frames per second; 12 unless given, all where it is 0. */
  readonly frameRate?: number | undefined;
  /** Which column is the label: `label`, unless given, or `id`. */
  readonly labelName?: "label" | "id" | undefined;
}

/**
 * Data sets of 20BN: a list in CSV, `id;label` in each line, and videos `FOLDER/ID.webm`. A line
 * without a label, as in test sets, gets the label `dummy`.
 *
 * The meta data are `id`, `label` and `idx`, the label's number.
 */
export class Custom20BNCsvWebmAdapter extends LabelledAdapter<LabelledVideo> {
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
      description: "Directory of the videos, FOLDER/ID.webm",
    },
    frameSizeOption("frameSize"),
    frameRateOption(12),
    {
      name: "labelName",
      type: "string",
      default: "label",
      choices: ["label", "id"],
      description: "Column of the label",
    },
    ...LISTED_OPTIONS,
  ];

  readonly #options: CsvWebmOptions;
  readonly #folder: string;

  /**
   * Takes a list that was read; {@linkcode Custom20BNCsvWebmAdapter.open} reads one.
   *
   * @param rows The fields of each row.
   */
  constructor(options: CsvWebmOptions, rows: readonly (readonly string[])[]) {
    super(options, () => videosOf(rows, options));
    this.#options = options;
    this.#folder = localPath(options.folder);
  }

  /** Reads the list. */
  static async open(
    options: CsvWebmOptions,
  ): Promise<Custom20BNCsvWebmAdapter> {
    assertOptions(Custom20BNCsvWebmAdapter, options);
    const rows = await readCsvRows(localPath(options.csvFile));
    return new Custom20BNCsvWebmAdapter(options, rows);
  }

  /** The frames of the video of that id. */
  protected override framesOf(
    { id }: LabelledVideo,
    options: WaitOptions,
  ): Frames {
    const { frameSize, frameRate = 12 } = this.#options;
    const path = join(this.#folder, `${id}.webm`);
    return framesOfVideo(path, { frameSize, frameRate }, options);
  }
}

function videosOf(
  rows: readonly (readonly string[])[],
  { labelName = "label" }: CsvWebmOptions,
): LabelledVideo[] {
  return rows.map(([id = "", label = "dummy"]) => ({
    id,
    label: labelName === "id" ? id : label,
  }));
}
