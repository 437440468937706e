/**
 * Temporary names of what is being written, and what killed writers left under such names.
 *
 * Whoever writes under one holds the lock of the file or directory (flock(2)), which the kernel lets
 * go of when the process ends, however that happens: what nobody holds is a leftover. That also
 * holds between containers, whose processes do not see each other, and where a number of a process
 * has been given anew.
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

/** No name is cut to fewer bytes. */
const LEAST_CUT = 200;

/** `.NAME.recordfs-PID-N.part`; of a file that is extracted, without a name. */
const TEMPORARY = /^\.(?:(.*)\.)?recordfs-(\d+)-\d+\.part$/s;

/**
 * The last number of a name that this thread has made. Threads of a process count for themselves: did all begin at 1,
 * one would make a name again that another has just given up, and lose its file to whoever removes the first one's.
 */
let made = Math.floor(Math.random() * 2 ** 40); // each thread has a seed of its own

/**
 * A new name beside `target` for what becomes `target` when it is complete. It is hidden, and says
 * whose it is: a process that is killed leaves it behind.
 */
export function temporaryName(target: string): string {
  const own = `.recordfs-${process.pid}-${++made}.part`;
  let name = path.basename(target);
  while (Buffer.byteLength(name) + own.length + 1 > LONGEST_NAME) {
    name = [...name].slice(0, -1).join("");
  }
  return path.join(path.dirname(target), `.${name}${own}`);
}

/** Tells whether a name in a directory is of something that is being written, or was left half-written. */
export function isTemporary(name: string): boolean {
  return TEMPORARY.test(name);
}

/** The name of what becomes of it when it is complete; `undefined` for other names. */
export function temporaryTarget(name: string): string | undefined {
  return TEMPORARY.exec(name)?.[1];
}

/** The process that writes, or wrote, a file that is extracted; `undefined` for other names. */
export function extractorOf(name: string): number | undefined {
  const [, target, pid] = TEMPORARY.exec(name) ?? [];
  return target === undefined && pid !== undefined ? Number(pid) : undefined;
}

/** Something that is written under a temporary name beside its target, whose place it takes when it is complete. */
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
   * Makes something under a temporary name beside `target`, where nobody takes it for a leftover.
   * Leftovers of the same target are removed.
   *
   * @param make Makes it; there must be nothing of that name.
   * @param drop Removes what was made, if it can.
   */
  static *make<T>(
    target: string,
    make: (temporary: string) => Steps<T>,
    drop: Drop<T>,
  ): Steps<Temporary<T>> {
    const parent = path.dirname(target);
    // Nobody but its writer writes into what is itself temporary.
    if (!isTemporary(path.basename(parent))) {
      yield* removeLeftovers(parent, path.basename(target));
    }
    for (;;) {
      const place = temporaryName(target);
      let made: T;
      try {
        made = yield* make(place);
      } catch (error) {
        // Of a process that had our number, or has it where we do not see it.
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
      drop(place, made); // something has taken it for a leftover meanwhile
    }
  }

  /**
   * Gives it its target's name. Not to be given up half-way: run it without a signal, when it is on the disk.
   *
   * @param waits Whether to wait until the name is on the disk as well.
   * @throws What the system refuses; it is discarded then.
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

  /** Removes it; nothing happens where it is published or discarded already. */
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
 * Removes what killed writers left in a directory. What is still being written stays, and so does
 * everything where the file system has no locks.
 *
 * @param target The name of what they wrote; of anything unless given.
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
    return; // what is wrong with it is said when it is written to
  }
  for (const name of names ?? []) {
    const of = temporaryTarget(name);
    if (of === undefined || target !== undefined && !isFor(of, target)) {
      continue;
    }
    removeUnlessLocked(path.join(directory, name));
  }
}

/** Tells whether a temporary name is made of a target's, of which long ones are cut. */
function isFor(name: string, target: string): boolean {
  return name === target ||
    target.startsWith(name) && Buffer.byteLength(name) >= LEAST_CUT;
}

function removeUnlessLocked(leftover: string): void {
  try {
    const found = fs.lstatSync(leftover, { throwIfNoEntry: false });
    if (!found?.isFile() && !found?.isDirectory()) return; // a pipe would be waited for
    using lock = FileLock.tryTake(leftover);
    if (lock?.isHeld !== true) return;
    if (found.isDirectory()) removeTree(leftover);
    else fs.rmSync(leftover, { force: true });
  } catch (error) {
    if (error instanceof Deno.errors.NotCapable) throw error;
    // Another user's, or gone already: it stays, and hinders nobody.
  }
}
