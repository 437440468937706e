import * as fs from "node:fs";
import * as path from "node:path";
import { RecordfsError, WriteError } from "../../base/errors.ts";
import { removeTree } from "./remove_tree.ts";
import { perform, runAsync, type Steps } from "../concurrency/steps.ts";
import { renamed, writeError } from "./write_error.ts";
import { removeLeftovers, Temporary } from "./temporaries.ts";
import { findTarget } from "./write_target.ts";

/**
 * A directory whose files appear all at once or not at all. They are written into a temporary directory next to the
 * target, `.NAME.recordfs-PID-N.part`, which is renamed to the target when complete. If a process is killed, the next
 * one to start the same directory removes its leftovers.
 */
export class NewDirectory {
  readonly path: string;
  readonly temporary: string;
  readonly #temporary: Temporary<void>;

  private constructor(location: string, temporary: Temporary<void>) {
    this.path = location;
    this.temporary = temporary.path;
    this.#temporary = temporary;
  }

  /**
   * Writes a directory: what `write` puts into the temporary one appears when `write` is done, or never. If `waits`,
   * waits until the name is on disk. Errors are reported under the final name.
   */
  static async write<T>(
    location: string,
    signal: AbortSignal | undefined,
    write: (temporary: string) => Promise<T>,
    waits = true,
  ): Promise<T> {
    const directory = await runAsync(NewDirectory.create(location), signal);
    try {
      const written = await write(directory.temporary);
      signal?.throwIfAborted();
      await runAsync(directory.publish(waits));
      return written;
    } catch (error) {
      throw directory.asPublished(error);
    } finally {
      directory.discard();
    }
  }

  /**
   * Starts a directory. An existing empty one is replaced. Throws a {@linkcode WriteError} if something else exists
   * there, its parent is missing, or the system refuses.
   */
  static *create(location: string): Steps<NewDirectory> {
    const target = yield* requireNewDirectory(location);
    try {
      const temporary = yield* makeTemporaryDirectory(target);
      return new NewDirectory(location, temporary);
    } catch (error) {
      throw writeError(location, error);
    }
  }

  /**
   * Renames the directory to its final name, and waits until that is on disk if `waits`. Must not be aborted: run it
   * without a signal, when its files are on disk. Throws a {@linkcode WriteError} if something was created there
   * meanwhile.
   */
  *publish(waits = true): Steps<void> {
    try {
      yield* this.#temporary.publish(waits);
    } catch (error) {
      const { code } = error as { code?: unknown };
      if (code === "ENOTEMPTY" || code === "EEXIST") throw notEmpty(this.path);
      if (code === "ENOTDIR") throw notADirectory(this.path);
      throw writeError(this.path, error);
    }
  }

  /** Rewrites an error about the temporary directory or a file in it to the final name `path`. */
  asPublished(error: unknown, path = this.path): unknown {
    const isOurs = error instanceof RecordfsError &&
      [RecordfsError, WriteError].includes(error.constructor as never);
    return isOurs ? renamed(error, this.temporary, path) : error;
  }

  /** Removes what was written. Does nothing if published or discarded already. */
  discard(): void {
    this.#temporary.discard();
  }
}

export function makeTemporaryDirectory(
  target: string,
): Steps<Temporary<void>> {
  return Temporary.make(target, makeDirectory, remove);
}

/** Synchronous, like taking its lock: an abort while waiting would leave the directory behind. */
// deno-lint-ignore require-yield -- it is not waited for
function* makeDirectory(location: string): Steps<void> {
  fs.mkdirSync(location);
}

function remove(directory: string): void {
  try {
    removeTree(directory);
  } catch {
    // The disk may be read-only by now. The target is untouched anyway.
  }
}

/**
 * Checks that a new directory can be created: nothing exists there, or an empty directory. Returns its path with
 * symbolic links resolved. Throws a {@linkcode WriteError} otherwise, or if its parent is missing.
 */
export function* requireNewDirectory(location: string): Steps<string> {
  const { path, found } = yield* findTarget(renameable(location));
  if (found !== undefined) yield* requireEmpty(location, path, found);
  return path;
}

/** `lstat` of `link/` would follow the link, and nothing can be renamed to `.`. */
function renameable(location: string): string {
  const name = path.basename(location);
  if (name === "." || name === "..") return path.resolve(location);
  return location.replace(/(?<=[^/])\/+$/, "");
}

function* requireEmpty(
  path: string,
  target: string,
  found: fs.Stats,
): Steps<void> {
  if (!found.isDirectory()) throw notADirectory(path);
  yield* removeLeftovers(target);
  let names: string[];
  try {
    names = yield* perform({
      sync: () => fs.readdirSync(target),
      async: () => fs.promises.readdir(target),
    });
  } catch (error) {
    throw writeError(path, error);
  }
  if (names.length > 0) throw notEmpty(path);
}

function notADirectory(path: string): WriteError {
  return new WriteError(
    "not-a-directory",
    `Cannot write the directory ${path}: it exists and is not a directory. Choose another name`,
    { path },
  );
}

function notEmpty(path: string): WriteError {
  return new WriteError(
    "not-empty",
    `Cannot write the directory ${path}: it exists and is not empty. Empty ` +
      `it, or choose another name`,
    { path },
  );
}
