import { FormatError } from "../../base/errors.ts";
import type { Steps } from "../concurrency/steps.ts";
import type { Storage } from "./storage.ts";
import type { ByteSource } from "./byte_source.ts";

/** Identity of an opened file, to detect changes. */
export interface KnownFile {
  readonly path: string;
  readonly size: number;
  readonly mtime: number;
}

/** @throws {FormatError} With code `changed` if a file is not the known one. */
export function requireSame(
  source: ByteSource,
  { path, size, mtime }: KnownFile,
): void {
  if (source.size === size && source.mtime === mtime) return;
  throw changedFile(path, size, source.size);
}

/** Makes the error of a file that is no longer the one that was opened. */
export function changedFile(
  path: string,
  expected?: unknown,
  actual?: unknown,
): FormatError {
  return new FormatError(
    "changed",
    `Cannot read ${path}: it was replaced or changed after it was opened. Open it again`,
    { path, expected, actual },
  );
}

/**
 * Compares a source's size with that of its file now.
 *
 * @throws {FormatError} With code `changed` if the file has grown or shrunk since it was opened.
 */
export function* requireSize(
  { name: path, size }: ByteSource,
  storage: Storage,
): Steps<void> {
  const now = yield* storage.stat(path);
  if (now !== undefined && now.size !== size) {
    throw changedFile(path, size, now.size);
  }
}

/** How often files are opened that other programs write to meanwhile. */
const MOST_TRIES = 5;

/** Runs steps again if they fail because a file has changed meanwhile. */
export function* againIfChanged<T>(steps: () => Steps<T>): Steps<T> {
  for (let tries = 1;; tries++) {
    try {
      return yield* steps();
    } catch (error) {
      const isChanged = error instanceof FormatError &&
        error.code === "changed";
      if (!isChanged || tries === MOST_TRIES) throw error;
    }
  }
}
