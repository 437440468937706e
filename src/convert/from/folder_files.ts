import * as fs from "node:fs";
import { FormatError, RecordfsError } from "../../base/errors.ts";
import {
  shouldYield,
  yieldToEventLoop,
} from "../../io/concurrency/event_loop.ts";
import {
  type Directory,
  type OpenFile,
  readFull,
} from "../../io/directories/directory.ts";
import {
  openDirectory,
  openFileByPath,
} from "../../io/directories/open_directory.ts";
import { systemCode } from "../../io/libc/system_error.ts";
import type { BatchReadOptions, BatchRoom } from "../../io/read/read_memory.ts";
import type { WaitOptions } from "../../io/storage/byte_source.ts";
import { openError } from "../../io/storage/file_source.ts";
import { isTemporary } from "../../io/write/temporaries.ts";
import { sortNames } from "../../base/names.ts";
import type {
  FileContents,
  FilePlace,
  FileTree,
  TreeEntry,
} from "./file_tree.ts";

/** Larger files are streamed. */
const READ_WHOLE = 8 << 20;
/** In pieces of so many bytes. */
const PIECE = 1 << 20;

/**
 * The files of a folder on disk, complete ones; symbolic links are followed. Its calls do not wait for each file: what
 * is in memory answers at a tenth of what that costs.
 *
 * Listing it throws `not-a-file` at a pipe, a socket or a device, and `bad-name` at a name that takes `--allow-ffi`.
 */
export class FolderFiles implements FileTree, Disposable {
  readonly location: string;
  readonly mtime: Date;
  /** What was listed last: to open a file from there takes half as long as by its path. */
  #last: { readonly path: string; readonly directory: Directory } | undefined;
  #isClosed = false;

  /** @param location The folder. */
  constructor(location: string) {
    this.location = location;
    this.mtime = fs.statSync(location).mtime;
  }

  async *list(
    path: string,
    { signal }: WaitOptions = {},
  ): AsyncGenerator<TreeEntry, void, undefined> {
    for (const { name, isDirectory } of await this.#listed(path, signal)) {
      const own = path === "" ? name : `${path}/${name}`;
      yield { path: own, name, depth: 1, isDirectory };
    }
  }

  async *walk(
    options: WaitOptions = {},
    path = "",
    depth = 1,
  ): AsyncGenerator<TreeEntry, void, undefined> {
    for await (const entry of this.list(path, options)) {
      yield { ...entry, depth };
      if (entry.isDirectory) yield* this.walk(options, entry.path, depth + 1);
    }
  }

  async *contents(
    options: WaitOptions = {},
  ): AsyncGenerator<FileContents, void, undefined> {
    for await (const entry of this.walk(options)) {
      const content = entry.isDirectory
        ? undefined
        : await this.#read(entry.path, options.signal, READ_WHOLE) ??
          this.#pieces(entry.path, options.signal);
      yield { files: [{ entry, content }] };
    }
  }

  size(place: FilePlace): Promise<number> {
    const path = pathOf(place);
    return this.#using(path, (at) => {
      const file = this.#open(path, at);
      try {
        return file.stat().size;
      } finally {
        file.close();
      }
    });
  }

  async read(
    place: FilePlace,
    { signal, memory }: BatchReadOptions = {},
  ): Promise<Uint8Array<ArrayBuffer>> {
    return (await this.#read(pathOf(place), signal, Infinity, memory))!;
  }

  /** A file's content, or `undefined` where it has more bytes than so many. */
  #read(
    path: string,
    signal: AbortSignal | undefined,
    most: number,
    memory?: BatchRoom,
  ): Promise<Uint8Array<ArrayBuffer> | undefined> {
    return this.#using(path, (at) => {
      signal?.throwIfAborted();
      return readNow(this.#open(path, at), at, most, memory);
    });
  }

  async stream(
    place: FilePlace,
    { signal }: WaitOptions = {},
  ): Promise<AsyncIterable<Uint8Array>> {
    const path = pathOf(place);
    await this.size(place); // what is not there is said now
    return this.#pieces(path, signal);
  }

  /** As much of a file as it says that it has: one of /proc says 0, and may have no end. */
  async *#pieces(
    path: string,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<Uint8Array, void, undefined> {
    const file = await this.#using(path, (at) => this.#open(path, at));
    try {
      const { size } = file.stat();
      for (let done = 0; done < size;) {
        const into = new Uint8Array(Math.min(PIECE, size - done));
        const got = await this.#using(path, () => {
          signal?.throwIfAborted();
          return readFull(file, into);
        });
        if (got < into.length) throw cut(this.#at(path), size, done + got);
        done += got;
        yield into;
      }
    } finally {
      file.close();
    }
  }

  /** The names in a directory in their order, and whether they are directories. */
  async #listed(
    path: string,
    signal: AbortSignal | undefined,
  ): Promise<{ name: string; isDirectory: boolean }[]> {
    const directory = await this.#using(path, (at) => openDirectory(at, true));
    const listed: { name: string; isDirectory: boolean }[] = [];
    try {
      const { names, notFiles, unreachable } = directory.list();
      for (const name of unreachable) {
        throw needsFfi(`${directory.path}/${name}`);
      }
      for (const name of sortNames(names)) {
        while (shouldYield()) await yieldToEventLoop();
        signal?.throwIfAborted();
        if (isTemporary(name)) continue;
        listed.push({
          name,
          isDirectory: notFiles.has(name) && isDirectory(directory, name),
        });
      }
    } catch (error) {
      directory.close();
      throw error;
    }
    this.#last?.directory.close();
    this.#last = undefined;
    if (this.#isClosed) directory.close(); // closed while it was listed
    else this.#last = { path, directory };
    return listed;
  }

  /** Lets go of what was listed last; what is read later is opened by its path. */
  [Symbol.dispose](): void {
    this.#isClosed = true;
    this.#last?.directory.close();
    this.#last = undefined;
  }

  /** Opens a file for reading. */
  #open(path: string, at: string): OpenFile {
    const slash = path.lastIndexOf("/");
    const parent = path.slice(0, Math.max(0, slash));
    return this.#last?.path === parent
      ? this.#last.directory.openFile(path.slice(slash + 1))
      : openFileByPath(at);
  }

  /** Does something with an entry, and says what it is about if it fails. */
  async #using<T>(path: string, work: (at: string) => T): Promise<T> {
    while (shouldYield()) await yieldToEventLoop();
    const at = this.#at(path);
    try {
      return work(at);
    } catch (error) {
      throw unfitOrRefused(at, error);
    }
  }

  #at(path: string): string {
    return path === "" ? this.location : `${this.location}/${path}`;
  }
}

function pathOf(place: FilePlace): string {
  return typeof place === "string" ? place : place.path;
}

function isDirectory(directory: Directory, name: string): boolean {
  const path = `${directory.path}/${name}`;
  let kind: string | undefined;
  try {
    kind = directory.stat(name, "follow")?.kind;
  } catch (error) {
    throw unfitOrRefused(path, error);
  }
  if (kind === "directory") return true;
  if (kind === "file") return false;
  if (kind === undefined) throw unfit(path, "is a symbolic link to nowhere");
  // It may have no end.
  throw unfit(path, "is neither a regular file nor a directory");
}

function unfitOrRefused(path: string, error: unknown): unknown {
  return systemCode(error) === "ELOOP"
    ? unfit(path, "is a symbolic link that leads in a circle")
    : openError(path, error);
}

function unfit(path: string, what: string): RecordfsError {
  // Of a link to a directory that it lies in, the same names come again and again.
  const first = path.replace(/((?:\/[^/]+)+?)\1+$/, "$1");
  return new RecordfsError(
    "not-a-file",
    `Cannot convert ${first}: it ${what}; take it out of the folder`,
    { path: first },
  );
}

function readNow(
  file: OpenFile,
  path: string,
  most: number,
  memory: BatchRoom | undefined,
): Uint8Array<ArrayBuffer> | undefined {
  try {
    const { kind, size } = file.stat();
    if (kind !== "file") {
      throw new RecordfsError(
        "not-a-file",
        `Cannot open ${path}: it is not a regular file`,
        { path },
      );
    }
    if (size > most) return undefined;
    const bytes = memory?.take(size) ?? new Uint8Array(size);
    const got = readFull(file, bytes);
    if (got === size) return bytes;
    throw cut(path, size, got);
  } finally {
    file.close();
  }
}

function cut(path: string, expected: number, actual: number): FormatError {
  return new FormatError(
    "out-of-bounds",
    `${path} ended ${
      expected - actual
    } bytes early: it was cut while it was read`,
    { path, expected, actual },
  );
}

function needsFfi(path: string): RecordfsError {
  return new RecordfsError(
    "bad-name",
    `Cannot open ${path}: its name is not UTF-8, which takes --allow-ffi, on Linux with the GNU C library`,
    { path },
  );
}
