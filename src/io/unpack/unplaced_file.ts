import { Buffer } from "node:buffer";
import process from "node:process";
import type { Directory, OpenFile, UnnamedFile } from "../dirfd/directory.ts";

/** When files are synced: `files` each before it is named, `end` all after the last, `none` when the system does. */
export type Durability = "files" | "end" | "none";

/** Files from this size start going to disk while others are written. */
const WORTH_A_START = 64 * 1024;

/** Run of zeros that becomes a hole. */
const HOLE = 64 * 1024;
const ZEROS = new Uint8Array(HOLE);

/** How a file is written. */
export interface Placing {
  readonly replace: boolean;
  readonly sync: Durability;
  /** Whether its directory is not visible yet, so that the file may have its name from the start. */
  readonly isHidden: boolean;
}

/** A new file that gets its name when it is complete. Until then it is unnamed if possible. */
export class UnplacedFile implements Disposable {
  readonly directory: Directory;
  readonly name: string;
  readonly #how: Placing;
  readonly #file: OpenFile;
  readonly #unnamed: UnnamedFile | undefined;
  /** Its current name, while it is incomplete. */
  #before: string | undefined;
  #written = 0;

  /** @param number Unique per file of this process. */
  constructor(
    directory: Directory,
    name: string,
    number: number,
    how: Placing,
  ) {
    this.directory = directory;
    this.name = name;
    this.#how = how;
    // Linking cannot replace an existing file.
    const isNamed = how.isHidden || how.replace;
    this.#unnamed = isNamed ? undefined : directory.createUnnamed();
    if (this.#unnamed !== undefined) {
      this.#file = this.#unnamed;
      return;
    }
    const isFinal = how.isHidden && !how.replace;
    const before = isFinal ? name : `.recordfs-${process.pid}-${number}.part`;
    // Fails if the name exists, even as a dangling symbolic link.
    this.#file = directory.createFile(before);
    this.#before = before;
  }

  write(bytes: Uint8Array): void {
    this.#file.write(bytes);
    this.#written += bytes.length;
  }

  /** Appends to a sparse file: runs of zeros become holes. */
  writeSparse(bytes: Uint8Array): void {
    let start = 0; // start of the data after the last hole
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

  /** Gives the file its final name. Throws `EEXIST` if something exists that must not be replaced. */
  place(mtime: Date): void {
    const { sync, replace } = this.#how;
    this.#file.setModified(mtime);
    if (sync === "files") this.#file.sync();
    // Keeps the disk busy meanwhile; small files are flushed many at once.
    else if (sync === "end" && this.#written >= WORTH_A_START) {
      this.#file.startSync();
    }
    if (this.#before === undefined) return this.#unnamed?.link(this.name);
    if (this.#before !== this.name) {
      this.directory.rename(this.#before, this.name, replace);
    }
    this.#before = undefined;
  }

  /** Closes the file, and removes it unless it has its final name. */
  [Symbol.dispose](): void {
    this.#file.close();
    if (this.#before !== undefined) this.directory.remove(this.#before);
  }
}

/**
 * Writes a small file in one go. Returns whether it did. If not, nothing is left of it; use an
 * {@linkcode UnplacedFile}, which succeeds or reports why.
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
