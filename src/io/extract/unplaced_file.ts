import { Buffer } from "node:buffer";
import process from "node:process";
import type {
  Directory,
  OpenFile,
  UnnamedFile,
} from "../directories/directory.ts";

/**
 * When files are on the disk, where they outlive the power: `files` each before it gets its name, `end` all when the
 * last is written, `none` whenever the system writes them.
 */
export type Durability = "files" | "end" | "none";

/** Bytes of a file that are brought to the disk while others are written. */
const WORTH_A_START = 64 * 1024;

/** Bytes of zeros that become a hole. */
const HOLE = 64 * 1024;
const ZEROS = new Uint8Array(HOLE);

/** How a file gets its place. */
export interface Placing {
  /** True if a file that is there already is replaced. */
  readonly replace: boolean;
  /** When it is waited for until it is on the disk: see {@linkcode Durability}. */
  readonly sync: Durability;
  /** Whether nobody sees its directory yet, so that it may have its name from the start. */
  readonly isHidden: boolean;
}

/** A new file of a directory, without its name until it is complete: without any, where that can be. */
export class UnplacedFile implements Disposable {
  readonly directory: Directory;
  /** The name that it is to have. */
  readonly name: string;
  readonly #how: Placing;
  readonly #file: OpenFile;
  readonly #unnamed: UnnamedFile | undefined;
  /** A name that it has before it is complete. */
  #before: string | undefined;
  #written = 0;

  /**
   * Makes it, empty.
   *
   * @param name The name that it is to have.
   * @param number Different for each file of this process.
   */
  constructor(
    directory: Directory,
    name: string,
    number: number,
    how: Placing,
  ) {
    this.directory = directory;
    this.name = name;
    this.#how = how;
    // A link does not take the place of what is there.
    const isNamed = how.isHidden || how.replace;
    this.#unnamed = isNamed ? undefined : directory.createUnnamed();
    if (this.#unnamed !== undefined) {
      this.#file = this.#unnamed;
      return;
    }
    const isFinal = how.isHidden && !how.replace;
    const before = isFinal ? name : `.recordfs-${process.pid}-${number}.part`;
    // Fails if there is something of that name, be it a symbolic link to nowhere.
    this.#file = directory.createFile(before);
    this.#before = before;
  }

  /** Appends to it. */
  write(bytes: Uint8Array): void {
    this.#file.write(bytes);
    this.#written += bytes.length;
  }

  /** Appends to a file with holes: zeros take no room on the disk, as in the holes that they come from. */
  writeSparse(bytes: Uint8Array): void {
    let start = 0; // of what is no hole
    for (let at = 0; at + HOLE <= bytes.length; at += HOLE) {
      if (!this.#isHole(bytes.subarray(at, at + HOLE))) continue;
      if (at > start) this.#file.write(bytes.subarray(start, at));
      this.#file.skip!(HOLE);
      start = at + HOLE;
    }
    if (start < bytes.length) this.#file.write(bytes.subarray(start));
    this.#written += bytes.length;
  }

  #isHole(bytes: Uint8Array): boolean {
    return bytes[0] === 0 && this.#file.skip !== undefined &&
      Buffer.compare(bytes, ZEROS) === 0;
  }

  /**
   * Gives it its name.
   *
   * @param mtime Last modification that it gets.
   * @throws An `EEXIST` if something is there that is not to be replaced, and whatever else the system refuses.
   */
  place(mtime: Date): void {
    const { sync, replace } = this.#how;
    this.#file.setModified(mtime);
    if (sync === "files") this.#file.sync();
    // The disk has something to do meanwhile; of small files it is given many at once.
    else if (sync === "end" && this.#written >= WORTH_A_START) {
      this.#file.startSync();
    }
    if (this.#before === undefined) return this.#unnamed?.link(this.name);
    if (this.#before !== this.name) {
      this.directory.rename(this.#before, this.name, replace);
    }
    this.#before = undefined;
  }

  /** Closes it, and removes it unless it has its place. */
  [Symbol.dispose](): void {
    this.#file.close();
    if (this.#before !== undefined) this.directory.remove(this.#before);
  }
}

/**
 * Puts a small file in place in one go.
 *
 * @returns Whether it did. If not, nothing is left of it, and an {@linkcode UnplacedFile} does it or says why not.
 */
export function placeWhole(
  directory: Directory,
  name: string,
  { isHidden, replace, sync }: Placing,
  content: Uint8Array,
  mtime: Date,
): boolean {
  const isSimple = !isHidden && !replace &&
    (sync === "none" || sync === "end" && content.length < WORTH_A_START);
  return isSimple && directory.createWhole(name, content, mtime);
}
