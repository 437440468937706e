import { WriteError } from "../errors.ts";
import { perform, type Steps } from "./steps.ts";
import { systemCode } from "./system_error.ts";
import { writeError } from "./write_error.ts";

/** What file systems answer that have no locks, as some of networks. */
const NO_LOCKS = ["ENOLCK", "ENOSYS", "EOPNOTSUPP", "ENOTSUP", "EINVAL"];

/**
 * Keeps others that ask for it from a file (flock(2)), until it is let go of or the process ends,
 * however that happens. Where the file system has no locks, it keeps nobody.
 */
export class FileLock implements Disposable {
  #file: Deno.FsFile | undefined;

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

  *#lock(): Steps<boolean> {
    try {
      return yield* perform({
        sync: () => this.#file!.tryLockSync(true),
        async: () => this.#file!.tryLock(true),
      });
    } catch (error) {
      if (NO_LOCKS.includes(systemCode(error) ?? "")) return true;
      throw error;
    }
  }

  /** Lets others have the file. */
  [Symbol.dispose](): void {
    this.#file?.close();
    this.#file = undefined;
  }
}
