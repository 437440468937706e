import * as fs from "node:fs";
import { WriteError } from "../errors.ts";
import { perform, type Steps } from "./steps.ts";
import { WritableFile } from "./writable_file.ts";
import { writeError } from "./write_error.ts";
import { findTarget, syncDirectoryOf, temporaryName } from "./write_target.ts";

/**
 * A file that appears whole or not at all: it is written under a temporary name beside its target,
 * `.NAME.recordfs-PID-N.part`, and takes the target's place when it is complete.
 */
export class NewFile {
  /** The path that it was asked for. */
  readonly path: string;
  /** Where its bytes go. */
  readonly file: WritableFile;
  readonly #target: string;
  readonly #temporary: string;
  #ended = false;

  private constructor(
    path: string,
    target: string,
    temporary: string,
    file: WritableFile,
  ) {
    this.path = path;
    this.#target = target;
    this.#temporary = temporary;
    this.file = file;
  }

  /**
   * Starts a file. A file that is there already stays as it is until {@linkcode NewFile.publish}.
   *
   * @throws {WriteError} If it can't be written: a directory, pipe or device is in its place, its
   * directory is missing, or the system refuses.
   */
  static *create(path: string): Steps<NewFile> {
    const target = yield* findTarget(path);
    if (target.found !== undefined && !target.found.isFile()) {
      const what = target.found.isDirectory()
        ? "a directory"
        : "not a regular file";
      throw new WriteError(
        "not-a-file",
        `Cannot write ${path}: it exists and is ${what}; choose another name`,
        { path },
      );
    }
    const { temporary, file } = yield* createTemporary(target.path, path);
    return new NewFile(path, target.path, temporary, file);
  }

  /**
   * Starts a file that never gets a name: for what is only needed while `path` is written. It goes
   * when it is closed, or its process ends.
   *
   * @param name What errors call it.
   */
  static *createScratch(path: string, name = path): Steps<WritableFile> {
    const target = yield* findTarget(path);
    const { temporary, file } = yield* createTemporary(target.path, name);
    fs.unlinkSync(temporary);
    return file;
  }

  /**
   * Gives the file its name, replacing one that was there. Not to be given up half-way: run it
   * without a signal, after `file.sync()`.
   */
  *publish(): Steps<void> {
    this.file.close();
    try {
      yield* perform({
        sync: () => fs.renameSync(this.#temporary, this.#target),
        async: () => fs.promises.rename(this.#temporary, this.#target),
      });
    } catch (error) {
      this.discard();
      throw writeError(this.path, error);
    }
    this.#ended = true;
    yield* syncDirectoryOf(this.#target);
  }

  /** Removes what was written so far; nothing happens where it is published or discarded already. */
  discard(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.file.close();
    try {
      fs.unlinkSync(this.#temporary);
    } catch {
      // Gone already, or on a disk that takes no change any more: the target is untouched anyhow.
    }
  }
}

function* createTemporary(
  target: string,
  name: string,
): Steps<{ temporary: string; file: WritableFile }> {
  for (;;) {
    const temporary = temporaryName(target);
    try {
      const file = yield* WritableFile.create(temporary, name);
      return { temporary, file };
    } catch (error) {
      // Left by a killed process that had our number.
      if ((error as { code?: unknown }).code === "EEXIST") continue;
      throw writeError(name, error);
    }
  }
}
