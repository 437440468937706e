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
import type { WaitOptions } from "../../../io/storage/byte_source.ts";
import type { Storage } from "../../../io/storage/storage.ts";
import { runAsync } from "../../../io/concurrency/steps.ts";
import {
  NameTable,
  type NameTableColumns,
} from "../../../tree/names/name_table.ts";
import { VirtualFs } from "../../../tree/vfs/virtual_fs.ts";
import {
  type Imported,
  RECIPE,
  type Recipe,
  storageArgument,
} from "../../../data/recipe.ts";
import type { ChooseFilesOptions } from "../../../data/datasets/choose_files.ts";
import {
  datasetOf,
  type FileSample,
  FilesDataset,
  type OpenedFiles,
  type OpenFilesOptions,
} from "../../../data/datasets/files_dataset.ts";
import { type Process, requireClass } from "../../../data/datasets/process.ts";

/** How to open a {@linkcode PackedFolderDataset}. */
export interface PackedFolderOptions
  extends OpenOptions, ChooseFilesOptions, WaitOptions {}

/** {@linkcode PackedFolderOptions} where samples are not the files themselves. */
export interface PackedFolderDatasetOptions<T> extends PackedFolderOptions {
  /** What makes samples of files; a module's, where the loader has workers. */
  readonly process: Imported<Process<FileSample, T>>;
}

/** What the trees of packed folders were made of. */
const packedFiles = new WeakMap<VirtualFs, PackedFiles>();

/**
 * The files of a packed folder, one sample each. Their order is that of their names, by code point: depth
 * first, what a folder holds in the place of its name.
 *
 * @typeParam T What one sample is: path and bytes, unless `process` makes something of them.
 *
 * @example Texts by their folder
 * ```ts
 * import { PackedFolderDataset } from "@recordfs/recordfs/data";
 * import assert from "node:assert/strict";
 *
 * using dataset = await PackedFolderDataset.open("test/recipes/packed.ffr", {
 *   files: "*.txt",
 *   process: (files) =>
 *     files.map(({ path, bytes }) => ({
 *       folder: path.slice(0, path.lastIndexOf("/") + 1),
 *       text: new TextDecoder().decode(bytes),
 *     })),
 * });
 * assert.deepEqual(dataset.paths.slice(0, 3), ["001.txt", "002.txt", "003.txt"]);
 * const [last] = await dataset.get([dataset.length - 1]);
 * assert.equal(last?.folder, "just_another_folder/another_folder/");
 * ```
 */
export class PackedFolderDataset<T = FileSample> extends FilesDataset<T> {
  /**
   * Opens a packed folder.
   *
   * @param location A file, or the files or directory that the folder is spread over.
   * @param options Which files, what makes samples of them, and how the folder is opened.
   * @throws {FormatError} If it is no packed folder, damaged, or hostile.
   * @throws {PathError} If there is no such file as one of `paths`.
   * @throws {RecordfsError} With code `bad-pattern` if a glob is none.
   * @throws {DataError} With code `not-portable` if the module of `process` does not have it.
   */
  static open<T>(
    this: typeof PackedFolderDataset,
    location: RecordLocation,
    options: PackedFolderDatasetOptions<T>,
  ): Promise<PackedFolderDataset<T>>;
  /** Opens a packed folder; samples are paths and bytes. */
  static open(
    this: typeof PackedFolderDataset,
    location: RecordLocation,
    options?: PackedFolderOptions,
  ): Promise<PackedFolderDataset>;
  /** Opens a packed folder as a class that extends this one, and is made of opened files alone. */
  static open<D extends PackedFolderDataset<unknown>>(
    this: new (files: OpenedFiles) => D,
    location: RecordLocation,
    options?: PackedFolderOptions,
  ): Promise<D>;
  static async open(
    location: RecordLocation,
    options: OpenOptions & OpenFilesOptions = {},
  ): Promise<PackedFolderDataset<unknown>> {
    const packed = await runAsync(
      openPackedFiles(lastingLocation(location, options), options),
      options.signal,
    );
    const fs = showPacked(packed, options.checkData ?? true, options);
    return await datasetOf<PackedFolderDataset<unknown>>(this, fs, options);
  }

  /** The folder again, over the same tables. */
  override [RECIPE](): Recipe {
    requireClass(this, PackedFolderDataset);
    const { files, names } = packedFiles.get(this.fs)!;
    return {
      module: import.meta.url,
      name: "reopenPackedFolderDataset",
      how: "call",
      args: [
        shareRecordFiles(files),
        storageArgument(files.storage, this.fs.location),
        names.columns,
        this.fs.checkData,
        ...this.portableParts(),
      ],
    };
  }
}

/** Makes the dataset in another thread. */
export async function reopenPackedFolderDataset<T>(
  handle: RecordFilesHandle,
  storage: Storage | undefined,
  names: NameTableColumns,
  checkData: boolean,
  chosen: unknown,
  process: Process<FileSample, T> | undefined,
): Promise<PackedFolderDataset<T>> {
  const files = await runAsync(reopenRecordFiles(handle, storage));
  const packed = { files, names: new NameTable(names) };
  const fs = showPacked(packed, checkData, { onWarning() {} }); // it was called before
  return new PackedFolderDataset({ fs, chosen }, process);
}

function showPacked(
  packed: PackedFiles,
  checkData: boolean,
  options: Pick<OpenOptions, "onWarning">,
): VirtualFs {
  const { files, names } = packed;
  const container = showFiles(files, names, PACKED_FOLDER, options);
  const fs = new VirtualFs(files.index.name, container, checkData);
  packedFiles.set(fs, packed);
  return fs;
}
