import * as fs from "node:fs";
import * as path from "node:path";
import { WriteError } from "../errors.ts";
import { removeTree } from "./remove_tree.ts";
import { perform, type Steps } from "./steps.ts";
import { writeError } from "./write_error.ts";
import { findTarget, syncDirectoryOf, temporaryName } from "./write_target.ts";

/**
 * A directory whose files appear all at once or not at all: they are written into a temporary
 * directory beside its target, `.NAME.recordfs-PID-N.part`, which takes the target's name when
 * they are complete.
 */
export class NewDirectory {
  /** The path that it was asked for. */
  readonly path: string;
  /** The directory to write into. */
  readonly temporary: string;
  readonly #target: string;
  #ended = false;

  private constructor(path: string, target: string, temporary: string) {
    this.path = path;
    this.#target = target;
    this.temporary = temporary;
  }

  /**
   * Starts a directory. An empty one that is there already is replaced.
   *
   * @throws {WriteError} If something else is in its place, its parent is missing, or the system
   * refuses.
   */
  static *create(location: string): Steps<NewDirectory> {
    const target = yield* findTarget(renameable(location));
    if (target.found !== undefined) {
      yield* requireEmpty(location, target.path, target.found);
    }
    for (;;) {
      const temporary = temporaryName(target.path);
      const directory = new NewDirectory(location, target.path, temporary);
      try {
        yield* perform({
          sync: () => fs.mkdirSync(temporary),
          async: () => fs.promises.mkdir(temporary),
        });
        return directory;
      } catch (error) {
        // Left by a killed process that had our number.
        if ((error as { code?: unknown }).code === "EEXIST") continue;
        directory.discard();
        throw writeError(location, error);
      }
    }
  }

  /**
   * Gives the directory its name. Not to be given up half-way: run it without a signal, when its
   * files are on the disk.
   *
   * @throws {WriteError} If something has been put in its place meanwhile.
   */
  *publish(): Steps<void> {
    try {
      yield* perform({
        sync: () => fs.renameSync(this.temporary, this.#target),
        async: () => fs.promises.rename(this.temporary, this.#target),
      });
    } catch (error) {
      this.discard();
      const { code } = error as { code?: unknown };
      if (code === "ENOTEMPTY" || code === "EEXIST") throw notEmpty(this.path);
      if (code === "ENOTDIR") throw notADirectory(this.path);
      throw writeError(this.path, error);
    }
    this.#ended = true;
    yield* syncDirectoryOf(this.#target);
  }

  /** An error about the temporary directory or a file in it, under the name that it was to have. */
  asPublished(error: unknown): unknown {
    const { temporary } = this;
    const isInside = error instanceof WriteError &&
      (error.path === temporary ||
        error.path?.startsWith(`${temporary}${path.sep}`));
    if (!isInside) return error;
    const own = (text: string) => text.replaceAll(temporary, this.path);
    return new WriteError(error.code, own(error.message), {
      ...error,
      path: own(error.path!),
      cause: error.cause,
    });
  }

  /** Removes what was written so far; nothing happens where it is published or discarded already. */
  discard(): void {
    if (this.#ended) return;
    this.#ended = true;
    try {
      removeTree(this.temporary);
    } catch {
      // On a disk that takes no change any more: the target is untouched anyhow.
    }
  }
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
