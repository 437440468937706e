import { changedFile } from "../../io/storage/changed_file.ts";
import { open, type OpenContainerOptions } from "../open.ts";
import { VirtualFs } from "../../tree/vfs/virtual_fs.ts";
import type { WaitOptions } from "../../io/storage/byte_source.ts";
import { lastingAt } from "../../io/storage/place.ts";
import { DataError } from "../../data/data_error.ts";
import {
  type Imported,
  RECIPE,
  type Recipe,
  storageArgument,
} from "../../data/recipe.ts";
import type { ChooseFilesOptions } from "../../data/datasets/choose_files.ts";
import type { DecodedFile } from "../../data/datasets/decode_files.ts";
import {
  datasetOf,
  type FileSample,
  FilesDataset,
  type OpenedFiles,
  type OpenFilesOptions,
} from "../../data/datasets/files_dataset.ts";
import {
  type Process,
  recipeOf,
  requireClass,
} from "../../data/datasets/process.ts";

/** How to open a {@linkcode FileDataset}. */
export interface FileOptions
  extends OpenContainerOptions, ChooseFilesOptions, WaitOptions {}

/** {@linkcode FileOptions} where files are decoded by their extensions. */
export interface DecodedFileOptions extends FileOptions {
  /** Whether samples are {@linkcode DecodedFile}: arrays, images, texts, … in place of bytes. */
  readonly decode: true;
}

/** {@linkcode FileOptions} where samples are not the files themselves. */
export interface FileDatasetOptions<T> extends FileOptions {
  /** Maker of samples of files; a module's, where the loader has workers. */
  readonly process: Imported<Process<FileSample, T>>;
}

/** What decodes files, as threads of a loader find it. */
const DECODE = {
  module: new URL("../../data/datasets/decode_files.ts", import.meta.url),
  name: "decodeFiles",
};

/** Where containers were opened, and how. */
const origins = new WeakMap<VirtualFs, [string, OpenContainerOptions]>();

/**
 * The files of a container of any format, one sample each, as {@linkcode VirtualFs} shows them. Their
 * order is that of the container, depth first.
 *
 * @typeParam T What one sample is: path and bytes, unless `process` makes something of them.
 *
 * @example The frames of all videos
 * ```ts
 * import { FileDataset } from "@recordfs/recordfs/data";
 * import assert from "node:assert/strict";
 *
 * using dataset = await FileDataset.open("test/golden/gulp/v2_chunks/gulp", { files: "*.jpg" });
 * const [first] = await dataset.get([0]);
 * assert.equal(first?.path, dataset.paths[0]);
 * assert.deepEqual(first?.bytes.subarray(0, 2), Uint8Array.of(0xff, 0xd8));
 * ```
 *
 * @example The arrays of an `.npz`
 * ```ts
 * import { FileDataset } from "@recordfs/recordfs/data";
 * import assert from "node:assert/strict";
 *
 * using arrays = await FileDataset.open("test/recipes/just_a_folder/just_another_folder/npzfile.npz", {
 *   decode: true,
 * });
 * const [first] = await arrays.get([0]);
 * assert.ok(first?.path.endsWith(".npy"));
 * ```
 */
export class FileDataset<T = FileSample> extends FilesDataset<T> {
  /**
   * Opens a container.
   *
   * @param source A file or directory, or an opened container: it is closed with the dataset, and a
   * loader of it has no workers.
   * @param options Which files, what makes samples of them, and how the container is opened.
   * @throws {FormatError} If it is no known container, or damaged.
   * @throws {PathError} If there is no such file as one of `paths`.
   * @throws {RecordfsError} With code `bad-pattern` if a glob is none.
   * @throws {DataError} With code `not-portable` if the module of `process` does not have it.
   */
  static open<T>(
    this: typeof FileDataset,
    source: string | URL | VirtualFs,
    options: FileDatasetOptions<T>,
  ): Promise<FileDataset<T>>;
  /** Opens a container; samples are paths and what the files were decoded to. */
  static open(
    this: typeof FileDataset,
    source: string | URL | VirtualFs,
    options: DecodedFileOptions,
  ): Promise<FileDataset<DecodedFile>>;
  /** Opens a container; samples are paths and bytes. */
  static open(
    this: typeof FileDataset,
    source: string | URL | VirtualFs,
    options?: FileOptions,
  ): Promise<FileDataset>;
  /** Opens a container as a class that extends this one, and is made of opened files alone. */
  static open<D extends FileDataset<unknown>>(
    this: new (files: OpenedFiles) => D,
    source: string | URL | VirtualFs,
    options?: FileOptions,
  ): Promise<D>;
  static async open(
    source: string | URL | VirtualFs,
    options: OpenContainerOptions & OpenFilesOptions & {
      readonly decode?: true;
    } = {},
  ): Promise<FileDataset<unknown>> {
    const { decode, process } = options;
    if (decode === true && process !== undefined) {
      throw new TypeError(
        "Files become samples by 'decode' or by 'process', not by both",
      );
    }
    const made = decode === true ? { ...options, process: DECODE } : options;
    const fs = source instanceof VirtualFs
      ? source
      : await openPlaced(source, options);
    return await datasetOf<FileDataset<unknown>>(this, fs, made);
  }

  /** The container again. */
  override [RECIPE](): Recipe {
    requireClass(this, FileDataset);
    const origin = origins.get(this.fs);
    if (origin === undefined) throw notOpenedByPath(this.fs.location);
    const [location, options] = origin;
    const storage = storageArgument(options.storage, location);
    const ends = this.length === 0
      ? []
      : [this.fileOf(0), this.fileOf(this.length - 1)];
    const again = { ...options, storage };
    const args = [location, again, ends, ...this.portableParts()];
    const { url } = import.meta;
    return recipeOf(this, FileDataset, url, args, "reopenFileDataset");
  }
}

/** Opens a container by a path that means the same in other threads. */
function openPlaced(
  source: string | URL,
  options: OpenContainerOptions & OpenFilesOptions,
): Promise<VirtualFs> {
  const { path, storage } = lastingAt(source, options);
  return openHere(path, { ...options, storage, remote: undefined });
}

/** Makes the dataset in another thread. */
export async function reopenFileDataset<T>(
  location: string,
  options: OpenContainerOptions,
  ends: readonly string[],
  chosen: unknown,
  process: Process<FileSample, T> | undefined,
): Promise<FileDataset<T>> {
  const quiet = { ...options, onWarning: () => {} }; // was told of already
  const fs = await openHere(location, quiet);
  const dataset = new FileDataset({ fs, chosen }, process);
  const [first, last] = ends;
  const isSame = dataset.length === 0 ||
    dataset.fileOf(0) === first && dataset.fileOf(dataset.length - 1) === last;
  if (isSame) return dataset;
  dataset.close();
  throw changedFile(location, ends);
}

async function openHere(
  location: string,
  { checkData, ext, decoded, format, storage, onWarning, signal }:
    & OpenContainerOptions
    & WaitOptions,
): Promise<VirtualFs> {
  const portable = { checkData, ext, decoded, format, storage };
  const fs = await open(location, { ...portable, onWarning, signal });
  origins.set(fs, [location, portable]);
  return fs;
}

function notOpenedByPath(location: string): DataError {
  return new DataError(
    "not-portable",
    `The loader's worker threads cannot open ${location} again as it was opened: ` +
      `give FileDataset.open() the path, or load with numWorkers: 0`,
    { path: location },
  );
}
