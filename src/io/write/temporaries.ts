/**
 * Temporary names of files being written, and removal of what killed writers left under such names.
 *
 * A writer holds the lock of its temporary file or directory (flock(2)), which the kernel releases when the process
 * ends for whatever reason. So an unlocked one is a leftover. That holds between containers too, whose processes do not
 * see each other, and when a pid is reused.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import * as fs from "node:fs";
import * as path from "node:path";
import process from "node:process";
import { RecordfsError } from "../../base/errors.ts";
import { FileLock } from "./file_lock.ts";
import { LOCAL_DISK } from "../storage/storage.ts";
import { removeTree } from "./remove_tree.ts";
import { perform, type Steps } from "../concurrency/steps.ts";
import { syncDirectoryOf } from "./write_target.ts";

/** Longest name of a directory entry in bytes, on every common file system. */
const LONGEST_NAME = 255;

/** Names are never cut to fewer bytes. */
const LEAST_CUT = 200;

/** `.NAME.recordfs-PID-N.part`; without a name for an extracted file. */
const TEMPORARY = /^\.(?:(.*)\.)?recordfs-(\d+)-\d+\.part$/s;

/**
 * Last number used in a name. Each thread counts from a random start. Otherwise a thread could reuse a name that
 * another has just given up, and lose its file when that one is removed.
 */
let made = Math.floor(Math.random() * 2 ** 40); // each thread has its own seed

/**
 * Returns a new name next to `target`, for what becomes `target` when complete. It is hidden and names the process,
 * which leaves it behind if killed.
 */
export function temporaryName(target: string): string {
  const own = `.recordfs-${process.pid}-${++made}.part`;
  let name = path.basename(target);
  while (Buffer.byteLength(name) + own.length + 1 > LONGEST_NAME) {
    name = [...name].slice(0, -1).join("");
  }
  return path.join(path.dirname(target), `.${name}${own}`);
}

/** Whether a name is of something being written, or left half-written. */
export function isTemporary(name: string): boolean {
  return TEMPORARY.test(name);
}

/** Returns the final name of a temporary one; `undefined` for other names. */
export function temporaryTarget(name: string): string | undefined {
  return TEMPORARY.exec(name)?.[1];
}

/** Returns the pid of the writer of an extracted file; `undefined` for other names. */
export function extractorOf(name: string): number | undefined {
  const [, target, pid] = TEMPORARY.exec(name) ?? [];
  return target === undefined && pid !== undefined ? Number(pid) : undefined;
}

/** Something written under a temporary name next to its target, and renamed to the target when complete. */
export class Temporary<T> {
  readonly path: string;
  readonly made: T;
  readonly #target: string;
  readonly #drop: Drop<T>;
  #lock: FileLock | undefined;

  private constructor(
    target: string,
    path: string,
    made: T,
    lock: FileLock,
    drop: Drop<T>,
  ) {
    this.#target = target;
    this.path = path;
    this.made = made;
    this.#lock = lock;
    this.#drop = drop;
  }

  /**
   * Creates something under a temporary name next to `target`, locked so that nobody takes it for a leftover. Removes
   * leftovers of the same target.
   *
   * @param make Creates it. The name must not exist.
   * @param drop Removes it, if possible.
   */
  static *make<T>(
    target: string,
    make: (temporary: string) => Steps<T>,
    drop: Drop<T>,
  ): Steps<Temporary<T>> {
    const parent = path.dirname(target);
    // Only its own writer writes into a temporary directory.
    if (!isTemporary(path.basename(parent))) {
      yield* removeLeftovers(parent, path.basename(target));
    }
    for (;;) {
      const place = temporaryName(target);
      let made: T;
      try {
        made = yield* make(place);
      } catch (error) {
        // A process with the same pid made it, possibly in another container.
        if ((error as { code?: unknown }).code === "EEXIST") continue;
        throw error;
      }
      try {
        const lock = FileLock.tryTake(place);
        if (lock?.isOf(place)) {
          return new Temporary(target, place, made, lock, drop);
        }
        lock?.[Symbol.dispose]();
      } catch (error) {
        drop(place, made);
        throw error;
      }
      drop(place, made); // another process took it for a leftover meanwhile
    }
  }

  /**
   * Renames it to its target, and waits until that is on disk if `waits`. Must not be aborted: run it without a signal,
   * when the data is on disk. On failure it is discarded.
   */
  *publish(waits = true): Steps<void> {
    try {
      yield* perform({
        sync: () => fs.renameSync(this.path, this.#target),
        async: () => fs.promises.rename(this.path, this.#target),
      });
    } catch (error) {
      this.discard();
      throw error;
    }
    this.#unlock();
    if (waits) yield* syncDirectoryOf(this.#target);
  }

  /** Removes it. Does nothing if published or discarded already. */
  discard(): void {
    if (this.#lock === undefined) return;
    this.#drop(this.path, this.made);
    this.#unlock();
  }

  #unlock(): void {
    this.#lock?.[Symbol.dispose]();
    this.#lock = undefined;
  }
}

type Drop<T> = (path: string, made: T) => void;

/**
 * Removes what killed writers left in a directory, of `target` if given. Keeps what is still being written, and
 * everything if the file system has no locks.
 */
export function* removeLeftovers(
  directory: string,
  target?: string,
): Steps<void> {
  let names: readonly string[] | undefined;
  try {
    names = yield* LOCAL_DISK.list(directory);
  } catch (error) {
    if (!(error instanceof RecordfsError)) throw error;
    return; // writing there reports the error
  }
  for (const name of names ?? []) {
    const of = temporaryTarget(name);
    if (of === undefined || target !== undefined && !isFor(of, target)) {
      continue;
    }
    removeUnlessLocked(path.join(directory, name));
  }
}

/** Whether a temporary name was made from a target's name, which is cut if long. */
function isFor(name: string, target: string): boolean {
  return name === target ||
    target.startsWith(name) && Buffer.byteLength(name) >= LEAST_CUT;
}

function removeUnlessLocked(leftover: string): void {
  try {
    const found = fs.lstatSync(leftover, { throwIfNoEntry: false });
    if (!found?.isFile() && !found?.isDirectory()) return; // opening a pipe would block
    using lock = FileLock.tryTake(leftover);
    if (lock?.isHeld !== true) return;
    if (found.isDirectory()) removeTree(leftover);
    else fs.rmSync(leftover, { force: true });
  } catch (error) {
    if (error instanceof Deno.errors.NotCapable) throw error;
    // Another user's, or already gone. It stays and does no harm.
  }
}
