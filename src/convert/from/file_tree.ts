import { FormatError } from "../../base/errors.ts";
import type { BatchReadOptions } from "../../io/read/read_memory.ts";
import type { WaitOptions } from "../../io/storage/byte_source.ts";
import { readAhead, type ReadAheadOptions } from "../../tree/vfs/read_ahead.ts";
import { contentPieces } from "../../tree/vfs/read_files.ts";
import type { VirtualFs, WalkOptions } from "../../tree/vfs/virtual_fs.ts";
import type { WalkEntry } from "../../tree/vfs/walk.ts";
import type { UnreadableFiles } from "./unreadable_files.ts";

/** Entry of a directory. */
export interface TreeEntry {
  /** Path from the root, without a slash at either end. */
  readonly path: string;
  /** Last part of the path. */
  readonly name: string;
  /** Number of names below the listed or walked directory: 1 for its own entries. */
  readonly depth: number;
  /** Whether it is a directory rather than a file. */
  readonly isDirectory: boolean;
}

/** A file: its path, or its entry from a walk or listing, which saves the lookup. */
export type FilePlace = string | TreeEntry;

/** Entry with its content. */
export interface FileContent {
  /** The entry. */
  readonly entry: TreeEntry;
  /** Content of a file; for a large file in pieces, readable once. `undefined` for a directory. */
  readonly content: Uint8Array | AsyncIterable<Uint8Array> | undefined;
}

/** Entries with their contents, valid until the next are requested. */
export interface FileContents {
  /** Entries in walk order. */
  readonly files: readonly FileContent[];
  /** Set by a consumer that needs the contents until this promise settles. */
  until?: Promise<unknown> | undefined;
}

/** Files to convert: those of a container, or of a folder on disk. */
export interface FileTree {
  /** Path of the container or folder. */
  readonly location: string;
  /** Modification time for files made from these. */
  readonly mtime: Date;
  /** Lists a directory, in its order. */
  list(path: string, options?: WaitOptions): AsyncIterable<TreeEntry>;
  /** Walks all entries, each directory before its contents. */
  walk(options?: WaitOptions): AsyncIterable<TreeEntry>;
  /** Walks all entries with their contents. */
  contents(options?: ReadAheadOptions): AsyncIterable<FileContents>;
  /** Returns the size of a file in bytes. */
  size(place: FilePlace): Promise<number>;
  /** Reads a file. */
  read(place: FilePlace, options?: BatchReadOptions): Promise<Uint8Array>;
  /** Reads a file in pieces. */
  stream(
    place: FilePlace,
    options?: WaitOptions,
  ): Promise<AsyncIterable<Uint8Array>>;
}

type OwnPlace = string | WalkEntry;

/**
 * Returns the files of a container.
 *
 * @param unreadable Skips files that cannot be read; without it, reading them throws.
 */
export async function containerFiles(
  container: VirtualFs,
  unreadable?: UnreadableFiles,
): Promise<FileTree> {
  const { mtime } = await container.stat("");
  const walk = (path: string, options?: WalkOptions) =>
    unreadable?.walk(path, options) ?? container.walk(path, options);
  return {
    location: container.location,
    mtime,
    list: (path, options) => walk(path, { ...options, maxDepth: 1 }),
    walk: (options) => walk("", options),
    contents: (options) =>
      containerContents(container, walk("", options), options),
    // Entries come from this tree's own listings.
    size: async (place) => (await container.stat(place as OwnPlace)).size,
    read: (place, options) => container.read(place as OwnPlace, options),
    stream: (place, options) => container.stream(place as OwnPlace, options),
  };
}

async function* containerContents(
  container: VirtualFs,
  walk: AsyncIterable<WalkEntry>,
  options: ReadAheadOptions = {},
): AsyncGenerator<FileContents> {
  for await (const batch of readAhead(container, walk, options)) {
    const read = await batch.contents;
    let file = 0;
    const files = batch.entries.map((entry) => ({
      entry,
      content: entry.isDirectory
        ? undefined
        : batch.isLarge
        ? contentPieces(container, entry.ino, entry.path, options.signal)
        : read[file++]!,
    }));
    const contents: FileContents = { files };
    yield contents;
    batch.until = contents.until;
  }
}

/** Whether an error is about one file rather than the container. */
export function isOfMember(error: unknown): error is FormatError {
  return error instanceof FormatError && error.member !== undefined;
}

/** Adds a file to the root of a tree. */
export function withRootFile(
  files: FileTree,
  name: string,
  bytes: Uint8Array,
): FileTree {
  const entry: TreeEntry = { path: name, name, depth: 1, isDirectory: false };
  async function* list(path: string, options?: WaitOptions) {
    if (path === "") yield entry;
    yield* files.list(path, options);
  }
  async function* walk(options?: WaitOptions) {
    yield entry;
    yield* files.walk(options);
  }
  async function* contents(options?: ReadAheadOptions) {
    yield { files: [{ entry, content: bytes }] };
    yield* files.contents(options);
  }
  const isIt = (place: FilePlace) => place === entry || place === name;
  return {
    ...files,
    list,
    walk,
    contents,
    size: (place) =>
      isIt(place) ? Promise.resolve(bytes.length) : files.size(place),
    read: (place, options) =>
      isIt(place) ? Promise.resolve(bytes) : files.read(place, options),
    stream: (place, options) =>
      isIt(place)
        ? Promise.resolve(ReadableStream.from([bytes]))
        : files.stream(place, options),
  };
}
