import process from "node:process";
import type {
  Directory,
  OpenFile,
  UnnamedFile,
} from "../directories/directory.ts";

/** How a file gets its place. */
export interface Placing {
  /** True if a file that is there already is replaced. */
  readonly replace: boolean;
  /** Last modification that it gets. */
  readonly mtime: Date;
  /** Whether it is on the disk before it gets its name. */
  readonly sync: boolean;
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
  }

  /**
   * Gives it its name.
   *
   * @throws An `EEXIST` if something is there that is not to be replaced, and whatever else the system refuses.
   */
  place(): void {
    const { mtime, sync, replace } = this.#how;
    this.#file.setModified(mtime);
    if (sync) this.#file.sync();
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
