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
}

/** A new file of a directory, without its name until it is complete: without any, where that can be. */
export class UnplacedFile {
  readonly #directory: Directory;
  readonly #how: Placing;
  readonly #file: OpenFile;
  readonly #unnamed: UnnamedFile | undefined;
  /** Temporary name that is to be removed. */
  #name: string | undefined;

  /** @param number Different for each file of this process. */
  constructor(directory: Directory, number: number, how: Placing) {
    this.#directory = directory;
    this.#how = how;
    // A link does not take the place of what is there.
    this.#unnamed = how.replace ? undefined : directory.createUnnamed();
    if (this.#unnamed !== undefined) {
      this.#file = this.#unnamed;
      return;
    }
    const name = `.recordfs-${process.pid}-${number}.part`;
    // Fails if there is something of that name, be it a symbolic link to nowhere.
    this.#file = directory.createFile(name);
    this.#name = name;
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
  place(name: string): void {
    const { mtime, sync, replace } = this.#how;
    this.#file.setModified(mtime);
    if (sync) this.#file.sync();
    if (this.#name === undefined) return this.#unnamed?.link(name);
    this.#directory.rename(this.#name, name, replace);
    this.#name = undefined;
  }

  /** Closes it, and removes it unless it has its place. */
  end(): void {
    this.#file.close();
    if (this.#name !== undefined) this.#directory.remove(this.#name);
  }
}
