import * as fs from "node:fs";
import { WriteError } from "../../base/errors.ts";
import { systemCode } from "../libc/system_error.ts";
import { writeError } from "./write_error.ts";

/** Errors of file systems without locks, such as some network file systems. */
export const NO_LOCKS: readonly string[] = [
  "ENOLCK",
  "ENOSYS",
  "EOPNOTSUPP",
  "ENOTSUP",
  "EINVAL",
  "EBADF",
];

/**
 * Advisory lock on a file (flock(2)). It is released on dispose, or when the process ends for whatever reason. If the
 * file system has no locks, it locks nobody out.
 */
export class FileLock implements Disposable {
  #file: Deno.FsFile | undefined;
  #isHeld = false;

  private constructor(path: string) {
    this.#file = openSync(path);
  }

  /** Locks an existing file without waiting. Throws a {@linkcode WriteError} (`busy`) if another holder has it. */
  static take(path: string): FileLock {
    try {
      const lock = new FileLock(path);
      if (lock.#take()) return lock;
    } catch (error) {
      throw writeError(path, error);
    }
    throw new WriteError(
      "busy",
      `Cannot write ${path}: another writer has it open. Wait until that is closed`,
      { path },
    );
  }

  /** {@linkcode FileLock.take} for a file or directory; `undefined` if another holder has it, or it is gone. */
  static tryTake(path: string): FileLock | undefined {
    try {
      const lock = new FileLock(path);
      return lock.#take() ? lock : undefined;
    } catch (error) {
      if (systemCode(error) !== "ENOENT") throw error;
      return undefined;
    }
  }

  #take(): boolean {
    let isTaken = false;
    try {
      this.#isHeld = isTaken = this.#file!.tryLockSync(true);
    } catch (error) {
      if (!NO_LOCKS.includes(systemCode(error) ?? "")) throw error;
      isTaken = true;
    } finally {
      if (!isTaken) this[Symbol.dispose]();
    }
    return isTaken;
  }

  /** Whether others are locked out; `false` if the file system has no locks. */
  get isHeld(): boolean {
    return this.#isHeld;
  }

  /** Like {@linkcode WritableFile.identity}. */
  get identity(): string {
    const { dev, ino } = this.#file!.statSync();
    return `${dev}:${ino}`;
  }

  /** Whether a path still names the locked file. */
  isOf(path: string): boolean {
    const found = fs.statSync(path, { throwIfNoEntry: false });
    return found !== undefined &&
      `${found.dev}:${found.ino}` === this.identity;
  }

  [Symbol.dispose](): void {
    // Closing is not enough: a child process that is being started holds a copy of the descriptor until it calls exec.
    if (this.#isHeld) this.#file?.unlockSync();
    this.#file?.close();
    this.#file = undefined;
    this.#isHeld = false;
  }
}

/** Opens for writing too, which network file systems require for locking; directories only for reading. */
function openSync(path: string): Deno.FsFile {
  try {
    return Deno.openSync(path, { read: true, write: true });
  } catch (error) {
    if (systemCode(error) !== "EISDIR") throw error;
    return Deno.openSync(path, { read: true });
  }
}
