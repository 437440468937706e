import * as fs from "node:fs";
import { WriteError } from "../../errors.ts";
import { perform, type Steps } from "../concurrency/steps.ts";
import { systemCode } from "../libc/system_error.ts";
import { writeError } from "./write_error.ts";

/** Answers of file systems without locks, as some of networks. */
const NO_LOCKS = [
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

  private constructor() {}

  /**
   * Takes the lock of a file that is there.
   *
   * @throws {WriteError} With code `busy` if another has it.
   */
  static *take(path: string): Steps<FileLock> {
    const lock = new FileLock();
    const options = { read: true, write: true };
    try {
      // Kept from inside: a wait that is aborted just now must not lose the descriptor.
      yield* perform({
        sync: () => void (lock.#file = Deno.openSync(path, options)),
        async: async () => void (lock.#file = await Deno.open(path, options)),
      });
      if (yield* lock.#lock()) return lock;
    } catch (error) {
      lock[Symbol.dispose]();
      throw writeError(path, error);
    }
    lock[Symbol.dispose]();
    throw new WriteError(
      "busy",
      `Cannot write ${path}: another writer has it open; wait until that is closed`,
      { path },
    );
  }

  /**
   * Takes the lock of a file or directory that is there, at once: no wait can be given up between
   * making it and this.
   *
   * @returns `undefined` if another has it, or there is nothing any more.
   */
  static tryTakeSync(path: string): FileLock | undefined {
    const lock = new FileLock();
    try {
      lock.#file = openSync(path);
      try {
        lock.#isHeld = lock.#file.tryLockSync(true);
        if (lock.#isHeld) return lock;
      } catch (error) {
        if (hasNoLocks(error)) return lock;
        throw error;
      }
    } catch (error) {
      lock[Symbol.dispose]();
      if (systemCode(error) !== "ENOENT") throw error;
    }
    lock[Symbol.dispose]();
    return undefined;
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

  *#lock(): Steps<boolean> {
    try {
      return this.#isHeld = yield* perform({
        sync: () => this.#file!.tryLockSync(true),
        async: () => this.#file!.tryLock(true),
      });
    } catch (error) {
      if (hasNoLocks(error)) return true;
      throw error;
    }
  }

  /** Lets others have the file. */
  [Symbol.dispose](): void {
    this.#file?.close();
    this.#file = undefined;
    this.#isHeld = false;
  }
}

function hasNoLocks(error: unknown): boolean {
  return NO_LOCKS.includes(systemCode(error) ?? "");
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
