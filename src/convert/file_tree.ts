import * as fs from "node:fs";
import type { WaitOptions } from "../io/byte_source.ts";
import { RecordfsError } from "../errors.ts";
import { openError } from "../io/file_source.ts";
import { isTemporary } from "../io/temporaries.ts";
import { systemCode } from "../io/system_error.ts";
import { sortNames } from "../names.ts";
import type { VirtualFs } from "../vfs/virtual_fs.ts";

/** An entry of a directory. */
export interface TreeEntry {
  /** From the root, without a slash at either end. */
  readonly path: string;
  readonly name: string;
  readonly isDirectory: boolean;
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
  /** Size of a file in bytes. */
  size(path: string): Promise<number>;
  read(path: string, options?: WaitOptions): Promise<Uint8Array>;
  /** A file's content piece by piece. */
  stream(
    path: string,
    options?: WaitOptions,
  ): Promise<AsyncIterable<Uint8Array>>;
  close(): void;
}

/** The files of a container. */
export async function containerFiles(container: VirtualFs): Promise<FileTree> {
  const { mtime } = await container.stat("");
  return {
    location: container.location,
    mtime,
    list: (path, options) => container.walk(path, { ...options, maxDepth: 1 }),
    walk: (options) => container.walk("", options),
    size: async (path) => (await container.stat(path)).size,
    read: (path, options) => container.read(path, options),
    stream: (path, options) => container.stream(path, options),
    close: () => container.close(),
  };
}

function notUtf8(path: string, cause: unknown): RecordfsError {
  return new RecordfsError(
    "bad-name",
    `Cannot open ${path}: its name is not UTF-8; convert the folder to a packed folder (ffrecord), ` +
      "which keeps such names, and that to what it is to become",
    { path, cause },
  );
}

/** A tree with one more file in its root. */
export function withRootFile(
  files: FileTree,
  name: string,
  bytes: Uint8Array,
): FileTree {
  const entry: TreeEntry = { path: name, name, isDirectory: false };
  async function* list(path: string, options?: WaitOptions) {
    if (path === "") yield entry;
    yield* files.list(path, options);
  }
  async function* walk(options?: WaitOptions) {
    yield entry;
    yield* files.walk(options);
  }
  return {
    ...files,
    list,
    walk,
    size: (path) =>
      path === name ? Promise.resolve(bytes.length) : files.size(path),
    read: (path, options) =>
      path === name ? Promise.resolve(bytes) : files.read(path, options),
    stream: (path, options) =>
      path === name
        ? Promise.resolve(ReadableStream.from([bytes]))
        : files.stream(path, options),
  };
}

/** The files of a folder on disk, complete ones; symbolic links are followed. */
export function folderFiles(location: string): FileTree {
  const at = (path: string) => path === "" ? location : `${location}/${path}`;
  const naming = async <T>(path: string, work: () => Promise<T>) => {
    try {
      return await work();
    } catch (error) {
      if (path.includes("\ufffd") && systemCode(error) === "ENOENT") {
        throw notUtf8(at(path), error);
      }
      throw openError(at(path), error);
    }
  };
  async function* list(
    path: string,
    { signal }: WaitOptions = {},
  ): AsyncGenerator<TreeEntry, void, undefined> {
    const names = await naming(path, () => fs.promises.readdir(at(path)));
    for (const name of sortNames(names)) {
      signal?.throwIfAborted();
      if (isTemporary(name)) continue;
      const own = path === "" ? name : `${path}/${name}`;
      const stat = await naming(own, () => fs.promises.stat(at(own)));
      yield { path: own, name, isDirectory: stat.isDirectory() };
    }
  }
  async function* walk(
    options: WaitOptions = {},
  ): AsyncGenerator<TreeEntry, void, undefined> {
    const levels = [list("", options)];
    for (
      let level = levels.at(-1);
      level !== undefined;
      level = levels.at(-1)
    ) {
      const { done, value } = await level.next();
      if (done) {
        levels.pop();
        continue;
      }
      yield value;
      if (value.isDirectory) levels.push(list(value.path, options));
    }
  }
  return {
    location,
    mtime: fs.statSync(location).mtime,
    list,
    walk,
    size: (path) =>
      naming(path, async () => (await fs.promises.stat(at(path))).size),
    read: (path, { signal } = {}) =>
      naming(path, () => fs.promises.readFile(at(path), { signal })),
    stream: (path) => Promise.resolve(fs.createReadStream(at(path))),
    close() {},
  };
}
