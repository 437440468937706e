import { perform, type Steps } from "../concurrency/steps.ts";
import { RecordfsError } from "../../base/errors.ts";
import { reasonOf, systemCode } from "../libc/system_error.ts";
import type { ByteSource } from "./byte_source.ts";
import { FileSource, openError } from "./file_source.ts";

/**
 * Where containers lie: a disk, memory, a server. Formats read through it and make no local calls.
 *
 * Paths are joined by `/`. Procedures answer at once if the storage can. Otherwise they refuse to run without waiting
 * (`mustWait`).
 */
export interface Storage {
  /**
   * Opens a file.
   *
   * @throws {RecordfsError} If it does not exist (`ENOENT`), is a directory (`not-a-file`), or cannot be read.
   */
  open(path: string, options?: {
    /**
     * Whether a writer may still append to the file. If so, what existed when it was opened stays readable; otherwise
     * any change is an error. Defaults to `false`.
     */
    readonly mayGrow?: boolean | undefined;
    /**
     * Whether the file may be missing: a server is then asked once at most, and not at all if it has listed the directory.
     * Defaults to `false`, which tells a missing file from a directory.
     */
    readonly isOptional?: boolean | undefined;
  }): Steps<ByteSource>;
  /**
   * Lists the names in a directory, unordered; `undefined` if the path is a file.
   *
   * @throws {RecordfsError} If it does not exist (`ENOENT`), or cannot be read.
   */
  list(path: string): Steps<readonly string[] | undefined>;
  /**
   * Returns metadata of a file or directory, without opening it; `undefined` if it does not exist.
   *
   * @throws {RecordfsError} If the system refuses.
   */
  stat(path: string): Steps<
    {
      /** Whether it is a directory; otherwise it is a file. */
      readonly isDirectory: boolean;
      /** Size of a file in bytes; 0 for a directory. */
      readonly size: number;
      /** Last modification, in milliseconds since 1970. */
      readonly mtime: number;
      /** Unique in its storage and the same on every open: the inode of a local file. */
      readonly id: number;
    } | undefined
  >;
}

/** Metadata of a file or directory. */
export type FileFacts = ReturnType<Storage["stat"]> extends Steps<infer Facts>
  ? NonNullable<Facts>
  : never;

/** Options of {@linkcode Storage.open}. */
export type OpenFileOptions = NonNullable<Parameters<Storage["open"]>[1]>;

/** The files of this machine. */
export const LOCAL_DISK: Storage = {
  open: (path, options) => FileSource.open(path, options),
  list: listDirectory,
  stat: statFile,
};

/** Makes the error of a path that does not exist. */
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
