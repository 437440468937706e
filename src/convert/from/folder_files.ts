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
} from "../../io/dirfd/directory.ts";
import {
  openDirectory,
  openFileByPath,
} from "../../io/dirfd/open_directory.ts";
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

const READ_WHOLE = 8 << 20;
const PIECE = 1 << 20;

/**
 * Files of a folder on disk, without temporary ones; symbolic links are followed. Calls are synchronous, because
 * awaiting each file costs ten times as much as reading cached ones.
 *
 * Listing throws `not-a-file` for a pipe, socket or device, and `bad-name` for a name that needs `--allow-ffi`.
 */
export class FolderFiles implements FileTree, Disposable {
  readonly location: string;
  readonly mtime: Date;
  /** Last listed directory: opening a file relative to it takes half as long as by its path. */
  #last: { readonly path: string; readonly directory: Directory } | undefined;
  #isClosed = false;

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

  /** Reads a file; `undefined` if it has more than `most` bytes. */
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
    await this.size(place); // report a missing file now
    return this.#pieces(path, signal);
  }

  /** Reads as much of a file as its size says: files in /proc have size 0, and may be endless. */
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
    if (this.#isClosed) directory.close(); // closed while listing
    else this.#last = { path, directory };
    return listed;
  }

  /** Closes the last listed directory; later reads open files by path. */
  [Symbol.dispose](): void {
    this.#isClosed = true;
    this.#last?.directory.close();
    this.#last = undefined;
  }

  #open(path: string, at: string): OpenFile {
    const slash = path.lastIndexOf("/");
    const parent = path.slice(0, Math.max(0, slash));
    return this.#last?.path === parent
      ? this.#last.directory.openFile(path.slice(slash + 1))
      : openFileByPath(at);
  }

  /** Runs `work` on an entry; errors name its path. */
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
  // Reading it might never end.
  throw unfit(path, "is neither a regular file nor a directory");
}

function unfitOrRefused(path: string, error: unknown): unknown {
  return systemCode(error) === "ELOOP"
    ? unfit(path, "is a symbolic link that leads in a circle")
    : openError(path, error);
}

function unfit(path: string, what: string): RecordfsError {
  // A link to a directory above it repeats the same names: report the first occurrence.
  const first = path.replace(/((?:\/[^/]+)+?)\1+$/, "$1");
  return new RecordfsError(
    "not-a-file",
    `Cannot convert ${first}: it ${what}. Take it out of the folder`,
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
    `Cannot read ${path}: it was truncated while it was read: ` +
      `${expected - actual} bytes are missing`,
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
