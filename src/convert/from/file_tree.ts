import * as fs from "node:fs";
import {
  shouldYield,
  yieldToEventLoop,
} from "../../io/concurrency/event_loop.ts";
import { runSync } from "../../io/concurrency/steps.ts";
import { readFile } from "../../io/read/read_file.ts";
import type { WaitOptions } from "../../io/storage/byte_source.ts";
import { RecordfsError } from "../../errors.ts";
import { openError } from "../../io/storage/file_source.ts";
import { isTemporary } from "../../io/write/temporaries.ts";
import { systemCode } from "../../io/libc/system_error.ts";
import { sortNames } from "../../names.ts";
import { readAhead, type ReadAheadOptions } from "../../vfs/read_ahead.ts";
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
  read(place: FilePlace, options?: WaitOptions): Promise<Uint8Array>;
  /** A file's content piece by piece. */
  stream(
    place: FilePlace,
    options?: WaitOptions,
  ): Promise<AsyncIterable<Uint8Array>>;
  /** Closes what was opened for it. */
  close(): void;
}

/** Larger files of a folder are streamed. */
const READ_WHOLE = 8 << 20;

type OwnPlace = string | WalkEntry;

/** The files of a container. */
export async function containerFiles(container: VirtualFs): Promise<FileTree> {
  const { mtime } = await container.stat("");
  return {
    location: container.location,
    mtime,
    list: (path, options) => container.walk(path, { ...options, maxDepth: 1 }),
    walk: (options) => container.walk("", options),
    contents: (options) => containerContents(container, options),
    // What it listed are its own entries.
    size: async (place) => (await container.stat(place as OwnPlace)).size,
    read: (place, options) => container.read(place as OwnPlace, options),
    stream: (place, options) => container.stream(place as OwnPlace, options),
    close: () => container.close(),
  };
}

async function* containerContents(
  container: VirtualFs,
  options: ReadAheadOptions = {},
): AsyncGenerator<FileContents> {
  const walk = container.walk("", options);
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

/**
 * The files of a folder on disk, complete ones; symbolic links are followed.
 *
 * Listing it throws `not-a-file` at a pipe, a socket or a device.
 */
export function folderFiles(location: string): FileTree {
  const at = (path: string) => path === "" ? location : `${location}/${path}`;
  // Without waiting for each: what is in memory answers at a tenth of what that costs.
  const naming = async <T>(path: string, work: () => T) => {
    while (shouldYield()) await yieldToEventLoop();
    try {
      return work();
    } catch (error) {
      if (path.includes("\ufffd") && systemCode(error) === "ENOENT") {
        throw new RecordfsError(
          "bad-name",
          `Cannot open ${
            at(path)
          }: its name is not UTF-8; convert the folder to a packed folder ` +
            "(.ffr), which keeps such names, and that to what it is to become",
          { path: at(path), cause: error },
        );
      }
      throw openError(at(path), error);
    }
  };
  async function* list(
    path: string,
    { signal }: WaitOptions = {},
  ): AsyncGenerator<TreeEntry, void, undefined> {
    const entries = await naming(
      path,
      () => fs.readdirSync(at(path), { withFileTypes: true }),
    );
    const byName = new Map(entries.map((entry) => [entry.name, entry]));
    for (const name of sortNames([...byName.keys()])) {
      signal?.throwIfAborted();
      if (isTemporary(name)) continue;
      const own = path === "" ? name : `${path}/${name}`;
      const entry = byName.get(name)!;
      const isKnown = entry.isFile() || entry.isDirectory();
      const stat = isKnown
        ? entry
        : await naming(own, () => fs.statSync(at(own)));
      if (!stat.isFile() && !stat.isDirectory()) { // pipes and devices may have no end
        throw new RecordfsError(
          "not-a-file",
          `Cannot convert ${
            at(own)
          }: it is neither a regular file nor a directory; ` +
            "take it out of the folder",
          { path: at(own) },
        );
      }
      yield { path: own, name, depth: 1, isDirectory: stat.isDirectory() };
    }
  }
  async function* walk(
    options: WaitOptions = {},
    path = "",
    depth = 1,
  ): AsyncGenerator<TreeEntry, void, undefined> {
    for await (const entry of list(path, options)) {
      yield { ...entry, depth };
      if (entry.isDirectory) yield* walk(options, entry.path, depth + 1);
    }
  }
  const files: FileTree = {
    location,
    mtime: fs.statSync(location).mtime,
    list,
    walk,
    async *contents(options) {
      for await (const entry of walk(options)) {
        const content = entry.isDirectory
          ? undefined
          : await files.size(entry) > READ_WHOLE
          ? await files.stream(entry, options)
          : await files.read(entry, options);
        yield { files: [{ entry, content }] };
      }
    },
    size: (place) => {
      const path = pathOf(place);
      return naming(path, () => fs.statSync(at(path)).size);
    },
    read: (place, { signal } = {}) => {
      const path = pathOf(place);
      return naming(path, () => {
        signal?.throwIfAborted();
        return runSync(readFile(at(path)));
      });
    },
    stream: async (place) => {
      const path = at(pathOf(place));
      const { size } = await fs.promises.stat(path);
      // As much as it says that it has: a file of /proc says 0, and may have no end.
      return size === 0
        ? ReadableStream.from<Uint8Array>([])
        : fs.createReadStream(path, { end: size - 1 });
    },
    close() {},
  };
  return files;
}

function pathOf(place: FilePlace): string {
  return typeof place === "string" ? place : place.path;
}
