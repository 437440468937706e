import * as fs from "node:fs";
import { WriteError } from "../../base/errors.ts";
import type { Steps } from "../concurrency/steps.ts";
import { WritableFile } from "./writable_file.ts";
import { writeError } from "./write_error.ts";
import { Temporary, temporaryName } from "./temporaries.ts";
import { findTarget } from "./write_target.ts";

/**
 * A file that appears whole or not at all: it is written under a temporary name beside its target,
 * `.NAME.recordfs-PID-N.part`, and takes the target's place when it is complete. What a process that
 * was killed has left of such a file goes when the next one starts it.
 */
export class NewFile {
  /** The path that it was asked for. */
  readonly path: string;
  /** Where its bytes go. */
  readonly file: WritableFile;
  readonly #temporary: Temporary<WritableFile>;

  private constructor(path: string, temporary: Temporary<WritableFile>) {
    this.path = path;
    this.#temporary = temporary;
    this.file = temporary.made;
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
    try {
      const temporary = yield* Temporary.make(
        target.path,
        (temporary) => WritableFile.create(temporary, path),
        drop,
      );
      return new NewFile(path, temporary);
    } catch (error) {
      throw writeError(path, error);
    }
  }

  /**
   * Writes a file as a whole.
   *
   * @throws {WriteError} If it can't be written.
   */
  static *write(path: string, bytes: Uint8Array): Steps<void> {
    const output = yield* NewFile.create(path);
    try {
      yield* output.file.writeAt(bytes, 0);
      yield* output.file.sync();
      yield* output.publish();
    } finally {
      output.discard();
    }
  }

  /**
   * Starts a file that never gets a name: for what is only needed while `path` is written. It goes
   * when it is closed, or its process ends.
   *
   * @param name What errors call it.
   */
  static *createScratch(path: string, name = path): Steps<WritableFile> {
    const target = yield* findTarget(path);
    for (;;) {
      const temporary = temporaryName(target.path);
      try {
        const file = yield* WritableFile.create(temporary, name);
        fs.rmSync(temporary, { force: true });
        return file;
      } catch (error) {
        // Left by a killed process that had our number.
        if ((error as { code?: unknown }).code === "EEXIST") continue;
        throw writeError(name, error);
      }
    }
  }

  /**
   * Gives the file its name, replacing one that was there. Not to be given up half-way: run it
   * without a signal, after `file.sync()`.
   *
   * @param waits Whether to wait until the name is on the disk.
   */
  *publish(waits = true): Steps<void> {
    this.file.close();
    try {
      yield* this.#temporary.publish(waits);
    } catch (error) {
      throw writeError(this.path, error);
    }
  }

  /** Removes what was written so far; nothing happens where it is published or discarded already. */
  discard(): void {
    this.#temporary.discard();
  }
}

function drop(temporary: string, file: WritableFile): void {
  file.close();
  try {
    fs.unlinkSync(temporary);
  } catch {
    // Gone already, or on a disk that takes no change any more: the target is untouched anyhow.
  }
}
