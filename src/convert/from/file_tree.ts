import { FormatError } from "../../errors.ts";
import { runAsync } from "../../io/concurrency/steps.ts";
import type { BatchReadOptions } from "../../io/read/read_memory.ts";
import type { WaitOptions } from "../../io/storage/byte_source.ts";
import { whenLoaded } from "../../tree/not_loaded.ts";
import { newExtent, type NodeId } from "../../tree/tree.ts";
import {
  type FileBatch,
  readAhead,
  type ReadAheadOptions,
} from "../../vfs/read_ahead.ts";
import { contentPieces } from "../../vfs/read_files.ts";
import type { VirtualFs, WalkEntry } from "../../vfs/virtual_fs.ts";

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

/** Called once with the error of each file that cannot be read, and is left out. */
export type OnUnreadable = (error: FormatError) => void;

/**
 * The files of a container.
 *
 * @param onUnreadable Has files that cannot be read left out; without it, they are errors when they are read.
 */
export async function containerFiles(
  container: VirtualFs,
  onUnreadable?: OnUnreadable,
): Promise<FileTree> {
  const { mtime } = await container.stat("");
  const readable = new ReadableFiles(container, onUnreadable);
  return {
    location: container.location,
    mtime,
    list: (path, options) =>
      readable.of(container.walk(path, { ...options, maxDepth: 1 })),
    walk: (options) => readable.of(container.walk("", options)),
    contents: (options) => readable.contents(options),
    // What it listed are its own entries.
    size: async (place) => (await container.stat(place as OwnPlace)).size,
    read: (place, options) => container.read(place as OwnPlace, options),
    stream: (place, options) => container.stream(place as OwnPlace, options),
  };
}

/** The files of a container that can be read. */
class ReadableFiles {
  readonly #container: VirtualFs;
  readonly #onUnreadable: OnUnreadable | undefined;
  /** Nodes of the others that have been reported. */
  readonly #reported = new Set<NodeId>();

  constructor(container: VirtualFs, onUnreadable: OnUnreadable | undefined) {
    this.#container = container;
    this.#onUnreadable = onUnreadable;
  }

  /** The entries of a walk, without files that are known to be unreadable. */
  of(walk: AsyncIterable<WalkEntry>): AsyncIterable<WalkEntry> {
    return this.#onUnreadable === undefined ? walk : this.#located(walk);
  }

  async *contents(
    options: ReadAheadOptions = {},
  ): AsyncGenerator<FileContents> {
    const container = this.#container;
    const walk = this.of(container.walk("", options));
    for await (const batch of readAhead(container, walk, options)) {
      const files = batch.isLarge
        ? await this.#large(batch.entries, options.signal)
        : await this.#small(batch);
      const contents: FileContents = { files };
      yield contents;
      batch.until = contents.until;
    }
  }

  async *#located(walk: AsyncIterable<WalkEntry>): AsyncGenerator<WalkEntry> {
    const { tree } = this.#container;
    const extent = newExtent();
    for await (const entry of walk) {
      const { ino, isFile } = entry;
      const locate = () => tree.locate(ino, extent);
      if (
        !isFile || await this.#try(ino, () => runAsync(whenLoaded(locate)))
      ) yield entry;
    }
  }

  async #small(batch: FileBatch): Promise<FileContent[]> {
    const { entries } = batch;
    let read: readonly Uint8Array[];
    try {
      read = await batch.contents;
    } catch (error) {
      if (!isOfMember(error) || !this.#onUnreadable) throw error;
      return await this.#oneByOne(entries);
    }
    let file = 0;
    return entries.map((entry) => ({
      entry,
      content: entry.isDirectory ? undefined : read[file++]!,
    }));
  }

  /** One damaged file fails a batch: then each is read on its own. */
  async #oneByOne(entries: readonly WalkEntry[]): Promise<FileContent[]> {
    const files: FileContent[] = [];
    for (const entry of entries) {
      let content: Uint8Array | undefined;
      const read = async () => {
        content = await this.#container.read(entry);
      };
      if (entry.isDirectory || await this.#try(entry.ino, read)) {
        files.push({ entry, content });
      }
    }
    return files;
  }

  /** Of a content that is written piece by piece, damage would be found too late: it is read before. */
  async #large(
    entries: readonly WalkEntry[],
    signal: AbortSignal | undefined,
  ): Promise<FileContent[]> {
    const container = this.#container;
    const files: FileContent[] = [];
    for (const entry of entries) {
      const { ino, path } = entry;
      const pieces = () => contentPieces(container, ino, path, signal);
      const isReadable = this.#onUnreadable === undefined ||
        await this.#try(ino, async () => {
          for await (const _ of pieces()) signal?.throwIfAborted();
        });
      if (isReadable) files.push({ entry, content: pieces() });
    }
    return files;
  }

  /** Whether a file can be read; otherwise it is reported. */
  async #try(node: NodeId, read: () => Promise<unknown>): Promise<boolean> {
    try {
      await read();
      return true;
    } catch (error) {
      if (!isOfMember(error)) throw error;
      if (!this.#reported.has(node)) this.#onUnreadable!(error);
      this.#reported.add(node);
      return false;
    }
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
