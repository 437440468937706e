import * as fs from "node:fs";
import { WriteError } from "../../base/errors.ts";
import type { Steps } from "../concurrency/steps.ts";
import { WritableFile } from "./writable_file.ts";
import { writeError } from "./write_error.ts";
import { Temporary, temporaryName } from "./temporaries.ts";
import { findTarget } from "./write_target.ts";

/**
 * A file that appears whole or not at all. It is written under a temporary name next to its target,
 * `.NAME.recordfs-PID-N.part`, and replaces the target when complete. If a process is killed, the next one to start the
 * same file removes its leftovers.
 */
export class NewFile {
  readonly path: string;
  readonly file: WritableFile;
  readonly #temporary: Temporary<WritableFile>;

  private constructor(path: string, temporary: Temporary<WritableFile>) {
    this.path = path;
    this.#temporary = temporary;
    this.file = temporary.made;
  }

  /**
   * Starts a file. An existing one stays until {@linkcode NewFile.publish}. Throws a {@linkcode WriteError} if a
   * directory, pipe or device exists there, its directory is missing, or the system refuses.
   */
  static *create(path: string): Steps<NewFile> {
    const target = yield* findTarget(path);
    if (target.found !== undefined && !target.found.isFile()) {
      const what = target.found.isDirectory()
        ? "a directory"
        : "not a regular file";
      throw new WriteError(
        "not-a-file",
        `Cannot write ${path}: it exists and is ${what}. Choose another name`,
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
   * Starts a file that never gets a name, for data needed only while `path` is written. It disappears when it is closed
   * or its process ends.
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
        // Left by a killed process with the same pid.
        if ((error as { code?: unknown }).code === "EEXIST") continue;
        throw writeError(name, error);
      }
    }
  }

  /**
   * Renames the file to its final name, replacing an existing one, and waits until that is on disk if `waits`. Must not
   * be aborted: run it without a signal, after `file.sync()`.
   */
  *publish(waits = true): Steps<void> {
    this.file.close();
    try {
      yield* this.#temporary.publish(waits);
    } catch (error) {
      throw writeError(this.path, error);
    }
  }

  /** Removes what was written. Does nothing if published or discarded already. */
  discard(): void {
    this.#temporary.discard();
  }
}

function drop(temporary: string, file: WritableFile): void {
  file.close();
  try {
    fs.unlinkSync(temporary);
  } catch {
    // Already gone, or the disk is read-only by now. The target is untouched anyway.
  }
}
