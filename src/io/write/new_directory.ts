import * as fs from "node:fs";
import * as path from "node:path";
import { RecordfsError, WriteError } from "../../base/errors.ts";
import { removeTree } from "./remove_tree.ts";
import { perform, runAsync, type Steps } from "../concurrency/steps.ts";
import { renamed, writeError } from "./write_error.ts";
import { removeLeftovers, Temporary } from "./temporaries.ts";
import { findTarget } from "./write_target.ts";

/**
 * A directory whose files appear all at once or not at all: they are written into a temporary
 * directory beside its target, `.NAME.recordfs-PID-N.part`, which takes the target's name when
 * they are complete. What a process that was killed has left of such a directory goes when the next
 * one starts it.
 */
export class NewDirectory {
  /** The path that it was asked for. */
  readonly path: string;
  /** The directory to write into. */
  readonly temporary: string;
  readonly #temporary: Temporary<void>;

  private constructor(location: string, temporary: Temporary<void>) {
    this.path = location;
    this.temporary = temporary.path;
    this.#temporary = temporary;
  }

  /**
   * Writes a directory: what `write` puts into the temporary one appears when that has ended, or never.
   *
   * @param waits Whether to wait until its name is on the disk.
   * @throws What starting or publishing it does; what `write` does, under the name that it was to have.
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
   * Starts a directory. An empty one that is there already is replaced.
   *
   * @throws {WriteError} If something else is in its place, its parent is missing, or the system
   * refuses.
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
   * Gives the directory its name. Not to be given up half-way: run it without a signal, when its
   * files are on the disk.
   *
   * @param waits Whether to wait until its name is on the disk.
   * @throws {WriteError} If something has been put in its place meanwhile.
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

  /**
   * An error about the temporary directory or a file in it, under the name that it was to have.
   *
   * @param path What takes the temporary directory's place; unless given, where that was to go.
   */
  asPublished(error: unknown, path = this.path): unknown {
    const isOurs = error instanceof RecordfsError &&
      [RecordfsError, WriteError].includes(error.constructor as never);
    return isOurs ? renamed(error, this.temporary, path) : error;
  }

  /** Removes what was written so far; nothing happens where it is published or discarded already. */
  discard(): void {
    this.#temporary.discard();
  }
}

/** Makes a directory under a temporary name beside `target`, as {@linkcode Temporary.make} says. */
export function makeTemporaryDirectory(
  target: string,
): Steps<Temporary<void>> {
  return Temporary.make(target, makeDirectory, remove);
}

/** At once, as its lock is taken: a wait that is aborted just then would leave it. */
// deno-lint-ignore require-yield -- it is not waited for
function* makeDirectory(location: string): Steps<void> {
  fs.mkdirSync(location);
}

function remove(directory: string): void {
  try {
    removeTree(directory);
  } catch {
    // On a disk that takes no change any more: the target is untouched anyhow.
  }
}

/**
 * Makes sure that a new directory can take its place: there is nothing, or an empty directory.
 *
 * @returns Its path behind all symbolic links.
 * @throws {WriteError} If something else is in its place, or its parent is missing.
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
    `Cannot write the directory ${path}: it exists and is none; choose another name`,
    { path },
  );
}

function notEmpty(path: string): WriteError {
  return new WriteError(
    "not-empty",
    `Cannot write the directory ${path}: it exists and is not empty; empty ` +
      `it, or choose another name`,
    { path },
  );
}
