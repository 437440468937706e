import { openedOver } from "../dataset_origin.ts";
import type { Dataset } from "../dataset.ts";
import { IndexError } from "../../base/errors.ts";
import type { WaitOptions } from "../../io/storage/byte_source.ts";
import { runAsync, type Steps } from "../../io/concurrency/steps.ts";
import { expectFiles, readFiles } from "../../tree/vfs/read_files.ts";
import type { VirtualFs } from "../../tree/vfs/virtual_fs.ts";
import type { GetOptions } from "../dataset.ts";
import { type Imported, importedFunction } from "../recipe.ts";
import { type ChooseFilesOptions, chooserOf } from "./choose_files.ts";
import {
  FileList,
  type FileListColumns,
  listFiles,
  listPaths,
} from "./file_list.ts";
import { hasSample } from "./has_sample.ts";
import { type Process, ProcessedDataset } from "./process.ts";

/** A file of a container. */
export interface FileSample {
  /** Its path from the container's root. */
  readonly path: string;
  /** Its content. */
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** Files of an opened container, as they were chosen: what classes that extend datasets of files hand on. */
export interface OpenedFiles {
  /** The container; it is closed with the dataset. */
  readonly fs: VirtualFs;
  /** Which of its files are samples. */
  readonly chosen: unknown;
}

/** Base of datasets whose samples are files. */
export abstract class FilesDataset<T> extends ProcessedDataset<FileSample, T> {
  /** The container. */
  protected readonly fs: VirtualFs;
  readonly #files: FileList;

  /**
   * Makes the dataset; the static method `open` opens one.
   *
   * @param files What `open` has opened.
   * @param process What makes samples of files.
   */
  constructor(
    { fs, chosen }: OpenedFiles,
    process?: Process<FileSample, T>,
  ) {
    super(process);
    this.fs = fs;
    this.#files = new FileList(fs.tree, chosen as FileListColumns);
  }

  /** Number of files. */
  override get length(): number {
    return this.#files.length;
  }

  /** Paths of the files from the container's root, by index. A new array of `length` at each access. */
  get paths(): string[] {
    return Array.from(
      { length: this.length },
      (_, file) => this.#files.path(file),
    );
  }

  /** Has files fetched that lie on a server. */
  override expect(indices: readonly number[]): number {
    const known = indices.filter((index) => hasSample(this, index));
    return expectFiles(
      this.fs,
      known.map((index) => this.#files.node(index)),
      (i) => this.#files.path(known[i]!),
    );
  }

  /** The path of a file: that of the container, and from its root on. */
  override fileOf(index: number): string | undefined {
    if (!hasSample(this, index)) return undefined;
    return `${this.fs.location}/${this.#files.path(index)}`;
  }

  /** Closes the container's files. What was read stays valid. */
  override close(): void {
    this.fs.close();
  }

  /** Reads the files of a batch. */
  protected override readBatch(
    indices: readonly number[],
    { memory, signal }: GetOptions,
  ): Promise<FileSample[]> {
    return runAsync(this.#read(indices, memory), signal);
  }

  /**
   * What another thread needs besides the container: which files are samples, and what makes samples of
   * them.
   *
   * @throws {DataError} With code `not-portable` if `process` is no module's function.
   */
  protected portableParts(): unknown[] {
    return [this.#files.columns, this.portableProcess()];
  }

  *#read(
    indices: readonly number[],
    memory: GetOptions["memory"],
  ): Steps<FileSample[]> {
    const nodes = indices.map((index) => {
      if (hasSample(this, index)) return this.#files.node(index);
      throw new IndexError(index, this.length, this.fs.location, 0, "file");
    });
    const path = (i: number) => this.#files.path(indices[i]!);
    const contents = yield* readFiles(this.fs, nodes, path, memory);
    return contents.map((bytes, i) => ({ path: path(i), bytes }));
  }
}

/** Options of opening a dataset of files, besides those of the container. */
export interface OpenFilesOptions extends ChooseFilesOptions, WaitOptions {
  readonly process?: Imported<Process<FileSample, unknown>> | undefined;
}

/**
 * Makes a dataset of the files of an opened container that are chosen. The container is closed if that
 * fails.
 */
export async function datasetOf<D extends Dataset<unknown>>(
  Class: new (files: OpenedFiles, process?: Process<FileSample, unknown>) => D,
  fs: VirtualFs,
  { files, paths, process, signal }: OpenFilesOptions,
): Promise<D> {
  try {
    if (files !== undefined && paths !== undefined) {
      throw new TypeError(
        "Files are chosen by 'files' or by 'paths', not by both",
      );
    }
    const chosen = await runAsync(
      paths === undefined
        ? listFiles(fs.tree, await chooserOf(files))
        : listPaths(fs.tree, fs.location, paths),
      signal,
    );
    const made = process && await importedFunction(process);
    const dataset = new Class({ fs, chosen }, made);
    const areAll = files === undefined && paths === undefined;
    return areAll ? openedOver(dataset, fs) : dataset;
  } catch (error) {
    fs.close();
    throw error;
  }
}
