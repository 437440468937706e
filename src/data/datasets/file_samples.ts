import { decodeFile, SAMPLE_DECODERS } from "../../codecs/file_values.ts";
import { VALUE_TYPES } from "../../codecs/values/value_type.ts";
import { runAsync, type Steps } from "../../io/concurrency/steps.ts";
import type { WaitOptions } from "../../io/storage/byte_source.ts";
import {
  changedFile,
  type KnownFile,
  requireSame,
} from "../../io/storage/changed_file.ts";
import type { Storage } from "../../io/storage/storage.ts";
import { openedSources } from "../../tree/joined_sources.ts";
import type {
  Field,
  ReadSamplesOptions,
  Samples,
  SamplesHandle,
} from "../../tree/samples/samples.ts";
import { notedListing } from "../../tree/trees/layered_tree.ts";
import { NotLoaded, whenLoaded } from "../../tree/not_loaded.ts";
import { ShardTable } from "../../tree/samples/shard_table.ts";
import type { Tree } from "../../tree/tree.ts";
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
  /**
   * Paths of the first and last file, to verify that the container is the same. None if other threads are given what
   * its directory holds: containers in that are compared with it when they are opened.
   */
  readonly ends: readonly string[];
  /** Files of the container that are open from the start. */
  readonly opened: readonly Pick<KnownFile, "mtime" | "size">[];
}

/** Makes a list of files one that other threads can compare with what they open. */
export function* listedFiles(
  tree: Tree,
  listing: Steps<FileListColumns>,
): Steps<ListedFiles> {
  const columns = yield* listing;
  const isGiven = notedListing(tree) !== undefined;
  const ends = isGiven ? [] : yield* endsOf(tree, columns);
  const opened = openedSources(tree.sources)
    .map(({ size, mtime }) => ({ size, mtime }));
  return { columns, ends, opened };
}

/**
 * Checks that a container has the files that another thread listed, and closes it otherwise.
 *
 * @throws {FormatError} With code `changed` if it is another one.
 */
export function* requireListed(
  { tree, location: path }: VirtualFs,
  { columns, ends, opened }: ListedFiles,
): Steps<void> {
  try {
    const sources = openedSources(tree.sources);
    if (sources.length !== opened.length) throw changedFile(path);
    for (const [i, known] of opened.entries()) {
      requireSame(sources[i]!, { path, ...known });
    }
    if (ends.length === 0) return;
    const found = yield* endsOf(tree, columns);
    if (found.some((path, i) => path !== ends[i])) {
      throw changedFile(path, ends, found);
    }
  } catch (error) {
    tree.close();
    throw error;
  }
}

/** Returns the paths of the first and last file. */
function endsOf(tree: Tree, columns: FileListColumns): Steps<string[]> {
  const files = new FileList(tree, columns);
  const { length } = files;
  return pathsOf(files, length === 0 ? [] : [0, length - 1]);
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
  readonly #share: () => SamplesHandle;

  /**
   * @param fs The container; closed with the samples.
   * @param share Describes the container and these files for other threads.
   */
  constructor(
    fs: VirtualFs,
    storage: Storage,
    columns: FileListColumns,
    share: () => SamplesHandle,
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
    const samples: Partial<FileSample>[] = hasPath
      ? (yield* pathsOf(this.#files, indices)).map((path) => ({ path }))
      : indices.map(() => ({}));
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
    const [path] = await runAsync(pathsOf(this.#files, [index]));
    const content = await decodeFile(
      path!.slice(path!.lastIndexOf("/") + 1),
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

  /** Returns the container instead of the file if the name of that must be fetched first. */
  fileOf(index: number): string {
    const { location } = this.#fs;
    try {
      return `${location}/${this.#files.path(index)}`;
    } catch (error) {
      if (error instanceof NotLoaded) return location;
      throw error;
    }
  }

  prefetch(indices: readonly number[], { fields }: ReadSamplesOptions): number {
    if (!chosen(fields).hasContent) return 0;
    const { nodes, pathOf } = this.#find(indices);
    return prefetchFiles(this.#fs, nodes, pathOf);
  }

  share(): SamplesHandle {
    return this.#share();
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
}

/** Returns the paths of files; fetches what names them. */
function* pathsOf(
  files: FileList,
  indices: readonly number[],
): Steps<string[]> {
  const paths: string[] = [];
  yield* whenLoaded(() => {
    for (let i = paths.length; i < indices.length; i++) {
      paths.push(files.path(indices[i]!));
    }
  });
  return paths;
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
): Promise<ListedFiles> {
  try {
    if (files !== undefined && paths !== undefined) {
      throw new TypeError(
        "The options 'files' and 'paths' exclude each other",
      );
    }
    const listing = paths === undefined
      ? listFiles(fs.tree, await chooserOf(files))
      : listPaths(fs.tree, fs.location, paths);
    return await runAsync(listedFiles(fs.tree, listing), signal);
  } catch (error) {
    fs.close();
    throw error;
  }
}
