import * as fs from "node:fs";
import { WriteError } from "../../base/errors.ts";
import { systemCode } from "../libc/system_error.ts";
import { writeError } from "./write_error.ts";

/** Answers of file systems without locks, as some of networks. */
export const NO_LOCKS: readonly string[] = [
  "ENOLCK",
  "ENOSYS",
  "EOPNOTSUPP",
  "ENOTSUP",
  "EINVAL",
  "EBADF",
];

/**
 * Keeps others that ask for it from a file (flock(2)), until it is let go of or the process ends,
 * however that happens. Where the file system has no locks, it keeps nobody.
 */
export class FileLock implements Disposable {
  #file: Deno.FsFile | undefined;
  #isHeld = false;

  private constructor(path: string) {
    this.#file = openSync(path);
  }

  /**
   * Takes the lock of a file that is there, at once: it is never waited for.
   *
   * @throws {WriteError} With code `busy` if another has it.
   */
  static take(path: string): FileLock {
    try {
      const lock = new FileLock(path);
      if (lock.#take()) return lock;
    } catch (error) {
      throw writeError(path, error);
    }
    throw new WriteError(
      "busy",
      `Cannot write ${path}: another writer has it open; wait until that is closed`,
      { path },
    );
  }

  /**
   * {@linkcode FileLock.take} of a file or directory.
   *
   * @returns `undefined` if another has it, or there is nothing any more.
   */
  static tryTake(path: string): FileLock | undefined {
    try {
      const lock = new FileLock(path);
      return lock.#take() ? lock : undefined;
    } catch (error) {
      if (systemCode(error) !== "ENOENT") throw error;
      return undefined;
    }
  }

  /**
   * Takes the lock of a file together with others that do so; who wants it alone has to wait.
   *
   * @returns `undefined` if one has it alone, or there is nothing any more.
   */
  static tryShare(path: string): FileLock | undefined {
    const lock = new FileLock(path);
    if (!lock.#take(false)) return undefined;
    if (lock.isOf(path)) return lock;
    lock[Symbol.dispose]();
    return undefined;
  }

  /** Takes the lock, or lets go of the file. */
  #take(isExclusive = true): boolean {
    let isTaken = false;
    try {
      this.#isHeld = isTaken = this.#file!.tryLockSync(isExclusive);
    } catch (error) {
      if (!NO_LOCKS.includes(systemCode(error) ?? "")) throw error;
      isTaken = true;
    } finally {
      if (!isTaken) this[Symbol.dispose]();
    }
    return isTaken;
  }

  /** True if others are kept from it: not where the file system has no locks. */
  get isHeld(): boolean {
    return this.#isHeld;
  }

  /** That of {@linkcode WritableFile.identity}. */
  get identity(): string {
    const { dev, ino } = this.#file!.statSync();
    return `${dev}:${ino}`;
  }

  /** Tells whether the locked file still has that name. */
  isOf(path: string): boolean {
    const found = fs.statSync(path, { throwIfNoEntry: false });
    return found !== undefined &&
      `${found.dev}:${found.ino}` === this.identity;
  }

  /** Lets others have the file. */
  [Symbol.dispose](): void {
    // Closing is not enough: a process that is just being started has a copy until it runs its program.
    if (this.#isHeld) this.#file?.unlockSync();
    this.#file?.close();
    this.#file = undefined;
    this.#isHeld = false;
  }
}

/** For writing, too, without which file systems of networks lock no file; directories are only read. */
function openSync(path: string): Deno.FsFile {
  try {
    return Deno.openSync(path, { read: true, write: true });
  } catch (error) {
    if (systemCode(error) !== "EISDIR") throw error;
    return Deno.openSync(path, { read: true });
  }
}
