import { decodeFile, SAMPLE_DECODERS } from "../../codecs/file_values.ts";
import { VALUE_TYPES } from "../../codecs/values/value_type.ts";
import { runAsync, type Steps } from "../../io/concurrency/steps.ts";
import type { WaitOptions } from "../../io/storage/byte_source.ts";
import { changedFile } from "../../io/storage/changed_file.ts";
import type { Storage } from "../../io/storage/storage.ts";
import type {
  Field,
  ReadSamplesOptions,
  Samples,
  SamplesHandle,
} from "../../tree/samples/samples.ts";
import { ShardTable } from "../../tree/samples/shard_table.ts";
import { prefetchFiles, readFiles } from "../../tree/vfs/read_files.ts";
import type { VirtualFs } from "../../tree/vfs/virtual_fs.ts";
import { type ChooseFilesOptions, chooserOf } from "./choose_files.ts";
import {
  FileList,
  type FileListColumns,
  listFiles,
  listPaths,
} from "./file_list.ts";

/** A file of a container, with the selected fields. */
export interface FileSample {
  /** Path, relative to the root of the container. */
  readonly path: string;
  /** Content of the file. */
  readonly content: Uint8Array<ArrayBuffer>;
}

/** A file whose content was decoded by its extension. */
export type DecodedFile = Readonly<Record<keyof FileSample, unknown>>;

/** Selected files of a container, to be shared with other threads. */
export interface ListedFiles {
  readonly columns: FileListColumns;
  /** Paths of the first and last file, to verify that the container is the same. */
  readonly ends: readonly string[];
}

const FIELDS: readonly Field[] = [
  { name: "path", type: VALUE_TYPES.text, isList: false },
  { name: "content", type: VALUE_TYPES.bytes, isList: false },
];

/** Files of a container, in its order, as samples with the fields `path` and `content`. */
export class FileSamples implements Samples<FileSample, DecodedFile> {
  readonly unit = "file";
  readonly fields = FIELDS;
  readonly stores = "fields";
  readonly shards: ShardTable;
  readonly storage: Storage;
  readonly #fs: VirtualFs;
  readonly #files: FileList;
  readonly #share: (files: ListedFiles) => SamplesHandle;

  /**
   * @param fs The container; closed with the samples.
   * @param share Describes the container and these files for other threads.
   */
  constructor(
    fs: VirtualFs,
    storage: Storage,
    columns: FileListColumns,
    share: (files: ListedFiles) => SamplesHandle,
  ) {
    this.#fs = fs;
    this.#files = new FileList(fs.tree, columns);
    this.#share = share;
    this.storage = storage;
    const { length } = this.#files;
    this.shards = new ShardTable([{ path: fs.location }], () => length);
  }

  *read(
    indices: readonly number[],
    { fields, memory }: ReadSamplesOptions,
  ): Steps<FileSample[]> {
    const { hasPath, hasContent } = chosen(fields);
    const samples: Partial<FileSample>[] = indices.map((index) =>
      hasPath ? { path: this.#files.path(index) } : {}
    );
    if (!hasContent) return samples as FileSample[];
    const { nodes, pathOf } = this.#find(indices);
    const contents = yield* readFiles(this.#fs, nodes, pathOf, memory);
    return contents.map((content, i) => ({
      ...samples[i]!,
      content,
    })) as FileSample[];
  }

  /** Decodes the content by its extension, as {@linkcode SAMPLE_DECODERS} say; other files stay bytes. */
  async decode(index: number, sample: FileSample): Promise<DecodedFile> {
    if (sample.content === undefined) return sample;
    const path = this.#files.path(index);
    const content = await decodeFile(
      path.slice(path.lastIndexOf("/") + 1),
      sample.content,
      SAMPLE_DECODERS,
      this.#fs.location,
      `'${path}'`,
    );
    return { ...sample, content };
  }

  keyOf(index: number): string {
    return this.#files.path(index);
  }

  fileOf(index: number): string {
    return `${this.#fs.location}/${this.#files.path(index)}`;
  }

  prefetch(indices: readonly number[], { fields }: ReadSamplesOptions): number {
    if (!chosen(fields).hasContent) return 0;
    const { nodes, pathOf } = this.#find(indices);
    return prefetchFiles(this.#fs, nodes, pathOf);
  }

  share(): SamplesHandle {
    const { columns } = this.#files;
    return this.#share({ columns, ends: this.#ends() });
  }

  /**
   * Checks that the container has the files that another thread listed, and closes it otherwise.
   *
   * @throws {FormatError} With code `changed` if it has other files.
   */
  requireEnds(ends: readonly string[]): this {
    if (this.#ends().every((path, i) => path === ends[i])) return this;
    this.close();
    throw changedFile(this.#fs.location, ends);
  }

  close(): void {
    this.#fs.close();
  }

  #find(indices: readonly number[]) {
    return {
      nodes: indices.map((index) => this.#files.node(index)),
      pathOf: (i: number) => this.#files.path(indices[i]!),
    };
  }

  #ends(): string[] {
    const { length } = this.#files;
    return length === 0 ? [] : [this.keyOf(0), this.keyOf(length - 1)];
  }
}

function chosen(fields: readonly string[] | undefined) {
  return {
    hasPath: fields?.includes("path") ?? true,
    hasContent: fields?.includes("content") ?? true,
  };
}

/**
 * Lists the chosen files of an open container. Closes the container on failure.
 *
 * @throws {PathError} If one of `paths` does not exist.
 * @throws {RecordfsError} With code `bad-pattern` if a glob is invalid.
 */
export async function listChosen(
  fs: VirtualFs,
  { files, paths, signal }: ChooseFilesOptions & WaitOptions,
): Promise<FileListColumns> {
  try {
    if (files !== undefined && paths !== undefined) {
      throw new TypeError(
        "The options 'files' and 'paths' exclude each other",
      );
    }
    const listing = paths === undefined
      ? listFiles(fs.tree, await chooserOf(files))
      : listPaths(fs.tree, fs.location, paths);
    return await runAsync(listing, signal);
  } catch (error) {
    fs.close();
    throw error;
  }
}
