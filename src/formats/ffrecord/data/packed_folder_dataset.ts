import { openPackedFiles, type PackedFiles } from "../folder/packed_files.ts";
import {
  lastingLocation,
  type OpenOptions,
  type RecordFilesHandle,
  type RecordLocation,
  reopenRecordFiles,
  shareRecordFiles,
} from "../read/record_files.ts";
import { PACKED_FOLDER } from "../kinds.ts";
import { showFiles } from "../tree/tree.ts";
import { openedOver } from "../../../data/dataset_origin.ts";
import type { ChooseFilesOptions } from "../../../data/datasets/choose_files.ts";
import type { FileListColumns } from "../../../data/datasets/file_list.ts";
import {
  type FileSample,
  FileSamples,
  listChosen,
} from "../../../data/datasets/file_samples.ts";
import type { Process } from "../../../data/datasets/process.ts";
import { SamplesDataset } from "../../../data/datasets/samples_dataset.ts";
import { type Imported, importedFunction } from "../../../data/recipe.ts";
import { runAsync, type Steps } from "../../../io/concurrency/steps.ts";
import type { WaitOptions } from "../../../io/storage/byte_source.ts";
import type { Storage } from "../../../io/storage/storage.ts";
import {
  NameTable,
  type NameTableColumns,
} from "../../../tree/names/name_table.ts";
import { SamplesReader } from "../../../tree/samples/samples_reader.ts";
import { VirtualFs } from "../../../tree/vfs/virtual_fs.ts";

/**
 * Files of a packed folder, one sample each, ordered by name, by code point: depth first, with a folder's content in
 * the place of its name.
 *
 * @typeParam T One sample: path and content, unless `process` converts them.
 *
 * @example Texts by their folder
 * ```ts
 * import { PackedFolderDataset } from "@recordfs/recordfs/data";
 * import assert from "node:assert/strict";
 *
 * using dataset = await PackedFolderDataset.open("test/recipes/packed.ffr", {
 *   files: "*.txt",
 *   process: (files) =>
 *     files.map(({ path, content }) => ({
 *       folder: path.slice(0, path.lastIndexOf("/") + 1),
 *       text: new TextDecoder().decode(content),
 *     })),
 * });
 * assert.deepEqual(dataset.paths.slice(0, 3), ["001.txt", "002.txt", "003.txt"]);
 * const [last] = await dataset.get([dataset.length - 1]);
 * assert.equal(last?.folder, "just_another_folder/another_folder/");
 * ```
 */
export class PackedFolderDataset<T = FileSample>
  extends SamplesDataset<FileSample, T> {
  readonly #files: FileSamples;

  /**
   * Creates the dataset; the static method `open` opens one.
   *
   * @param files Files that `open` has opened.
   * @param process Converts files to samples.
   */
  constructor(files: FileSamples, process?: Process<FileSample, T>) {
    super(new SamplesReader(files), { decode: false }, process);
    this.#files = files;
  }

  /**
   * Opens a packed folder.
   *
   * @param location A file, or the files or directory that the folder is spread over.
   * @param options Which files to use, `process`, and how to open the folder.
   * @throws {FormatError} If it is not a packed folder, is damaged, or hostile.
   * @throws {PathError} If a path in `paths` does not exist.
   * @throws {RecordfsError} With code `bad-pattern` if a glob is invalid.
   * @throws {DataError} With code `not-portable` if the module of `process` lacks the function.
   */
  static open<T>(
    this: typeof PackedFolderDataset,
    location: RecordLocation,
    options: OpenOptions & ChooseFilesOptions & WaitOptions & {
      /** Converts files to samples; must come from a module if the loader has workers. */
      readonly process: Imported<Process<FileSample, T>>;
    },
  ): Promise<PackedFolderDataset<T>>;
  /** Opens a packed folder; samples are paths and contents. */
  static open(
    this: typeof PackedFolderDataset,
    location: RecordLocation,
    options?: OpenOptions & ChooseFilesOptions & WaitOptions,
  ): Promise<PackedFolderDataset>;
  /** Opens a packed folder as a subclass whose constructor takes only opened files. */
  static open<D extends PackedFolderDataset<unknown>>(
    this: new (files: FileSamples) => D,
    location: RecordLocation,
    options?: OpenOptions & ChooseFilesOptions & WaitOptions,
  ): Promise<D>;
  static async open(
    location: RecordLocation,
    options: OpenOptions & ChooseFilesOptions & WaitOptions & {
      readonly process?: Imported<Process<FileSample, unknown>>;
    } = {},
  ): Promise<PackedFolderDataset<unknown>> {
    const process = options.process && await importedFunction(options.process);
    const packed = await runAsync(
      openPackedFiles(lastingLocation(location, options), options),
      options.signal,
    );
    const { checkData = true, files, paths } = options;
    const fs = showPacked(packed, checkData, options);
    const { columns } = await listChosen(fs, options);
    const samples = samplesOf(packed, fs, columns);
    const dataset = new this<unknown>(samples, process);
    const areAll = files === undefined && paths === undefined;
    return areAll ? openedOver(dataset, fs) : dataset;
  }

  /** Paths of the files from the folder's root, by index. A new array of `length` at each access. */
  override get paths(): readonly string[] {
    const { length } = this;
    return Array.from({ length }, (_, file) => this.#files.keyOf(file));
  }

  /** The library's class, also for subclasses. */
  protected override get libraryClass(): { readonly name: string } {
    return PackedFolderDataset;
  }
}

/** Data from which other threads reopen the samples, over the same tables. */
interface Seed {
  readonly files: RecordFilesHandle;
  readonly names: NameTableColumns;
  readonly checkData: boolean;
  readonly columns: FileListColumns;
}

function samplesOf(
  { files, names }: PackedFiles,
  fs: VirtualFs,
  columns: FileListColumns,
): FileSamples {
  return new FileSamples(fs, files.storage, columns, () => {
    const data: Seed = {
      files: shareRecordFiles(files),
      names: names.columns,
      checkData: fs.checkData,
      columns,
    };
    return { module: import.meta.url, data };
  });
}

export function* reopenSamples(
  { files: handle, names, checkData, columns }: Seed,
  storage: Storage,
): Steps<FileSamples> {
  const files = yield* reopenRecordFiles(handle, storage);
  const packed = { files, names: new NameTable(names) };
  const fs = showPacked(packed, checkData, { onWarning() {} }); // the first thread has warned
  return samplesOf(packed, fs, columns);
}

function showPacked(
  { files, names }: PackedFiles,
  checkData: boolean,
  options: Pick<OpenOptions, "onWarning">,
): VirtualFs {
  const container = showFiles(files, names, PACKED_FOLDER, options);
  return new VirtualFs(files.index.name, container, checkData);
}
