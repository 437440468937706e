import { FormatError } from "../../base/errors.ts";
import type { BatchReadOptions } from "../../io/read/read_memory.ts";
import type { WaitOptions } from "../../io/storage/byte_source.ts";
import { readAhead, type ReadAheadOptions } from "../../tree/vfs/read_ahead.ts";
import { contentPieces } from "../../tree/vfs/read_files.ts";
import type {
  VirtualFs,
  WalkEntry,
  WalkOptions,
} from "../../tree/vfs/virtual_fs.ts";
import type { UnreadableFiles } from "./unreadable_files.ts";

/** An entry of a directory. */
export interface TreeEntry {
  /** From the root, without a slash at either end. */
  readonly path: string;
  /** The last part of the path. */
  readonly name: string;
  /** How many names below the directory that is listed or walked: 1 for its own entries. */
  readonly depth: number;
  /** Whether it is a directory, and no file. */
  readonly isDirectory: boolean;
}

/** A file: its path, or the entry that a walk or listing gave, which spares finding it again. */
export type FilePlace = string | TreeEntry;

/** An entry with its content. */
export interface FileContent {
  /** Where it is. */
  readonly entry: TreeEntry;
  /** Of a file; of a large one piece by piece, once. */
  readonly content: Uint8Array | AsyncIterable<Uint8Array> | undefined;
}

/** Some entries, with their contents, which are good until the next are asked for. */
export interface FileContents {
  /** In the order of the walk. */
  readonly files: readonly FileContent[];
  /** Set by whoever needs the contents for longer: until when. */
  until?: Promise<unknown> | undefined;
}

/** Files to be converted: those of a container, or of a folder on disk. */
export interface FileTree {
  /** Where it is. */
  readonly location: string;
  /** Last modification that files get which are made of these. */
  readonly mtime: Date;
  /** The entries of a directory, in its order. */
  list(path: string, options?: WaitOptions): AsyncIterable<TreeEntry>;
  /** All entries, each directory before its content. */
  walk(options?: WaitOptions): AsyncIterable<TreeEntry>;
  /** All entries as they are walked, with what is in them. */
  contents(options?: ReadAheadOptions): AsyncIterable<FileContents>;
  /** Size of a file in bytes. */
  size(place: FilePlace): Promise<number>;
  /** A file's content. */
  read(place: FilePlace, options?: BatchReadOptions): Promise<Uint8Array>;
  /** A file's content piece by piece. */
  stream(
    place: FilePlace,
    options?: WaitOptions,
  ): Promise<AsyncIterable<Uint8Array>>;
}

type OwnPlace = string | WalkEntry;

/**
 * The files of a container.
 *
 * @param unreadable Has files that cannot be read left out; without it, they are errors when they are read.
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
    // What it listed are its own entries.
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

/** Whether an error is about one file: otherwise it is about the container. */
export function isOfMember(error: unknown): error is FormatError {
  return error instanceof FormatError && error.member !== undefined;
}

/** A tree with one more file in its root. */
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
