import { perform, type Steps } from "../concurrency/steps.ts";
import { RecordfsError } from "../../base/errors.ts";
import { reasonOf, systemCode } from "../libc/system_error.ts";
import type { ByteSource, OpenFileOptions } from "./byte_source.ts";
import { FileSource, openError } from "./file_source.ts";

/** A file or directory as a storage knows it without opening it. */
export interface FileFacts {
  /** Whether it is a directory; otherwise it is a file. */
  readonly isDirectory: boolean;
  /** Bytes of a file; 0 for a directory. */
  readonly size: number;
  /** Last modification, in milliseconds since 1970. */
  readonly mtime: number;
  /** Tells it from all others of its storage, the same on every open: the inode of a local file. */
  readonly id: number;
}

/**
 * Where containers lie: a disk, memory, a server. Formats are given one and name no local call.
 *
 * Paths are joined by `/`. Each procedure answers at once where the storage can, and otherwise refuses
 * to be run without waiting (`mustWait`).
 */
export interface Storage {
  /**
   * Opens a file.
   *
   * @throws {RecordfsError} If there is none (`ENOENT`), it is a directory (`not-a-file`), or it can't be read.
   */
  open(path: string, options?: OpenFileOptions): Steps<ByteSource>;
  /**
   * Reads the names in a directory, in no order; `undefined` where the path is a file.
   *
   * @throws {RecordfsError} If there is nothing (`ENOENT`), or it can't be read.
   */
  list(path: string): Steps<readonly string[] | undefined>;
  /**
   * Looks at a file or directory; `undefined` where there is none.
   *
   * @throws {RecordfsError} If it can't be looked at.
   */
  stat(path: string): Steps<FileFacts | undefined>;
}

/** The files of this machine. */
export const LOCAL_DISK: Storage = {
  open: (path, options) => FileSource.open(path, options),
  list: listDirectory,
  stat: statFile,
};

/** Says that a path leads to nothing. */
export function noSuchFile(path: string): RecordfsError {
  return new RecordfsError(
    "ENOENT",
    `Cannot open ${path}: ${reasonOf("ENOENT")}`,
    { path },
  );
}

function* statFile(path: string): Steps<FileFacts | undefined> {
  try {
    const { isDirectory, size, mtime, ino } = yield* perform({
      sync: () => Deno.statSync(path),
      async: () => Deno.stat(path),
    });
    return {
      isDirectory,
      size: isDirectory ? 0 : size,
      mtime: mtime?.getTime() ?? 0,
      id: ino ?? 0,
    };
  } catch (error) {
    const code = systemCode(error);
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw openError(path, error);
  }
}

function* listDirectory(path: string): Steps<string[] | undefined> {
  try {
    return yield* perform({
      sync: () => Array.from(Deno.readDirSync(path), ({ name }) => name),
      async: () => Array.fromAsync(Deno.readDir(path), ({ name }) => name),
    });
  } catch (error) {
    if (systemCode(error) === "ENOTDIR") return undefined;
    throw openError(path, error);
  }
}
