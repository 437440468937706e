import type { EntryFile } from "../../dirfd/entries.ts";
import { changedFile } from "../../storage/changed_file.ts";
import { descriptors } from "../../storage/descriptor_pool.ts";

/**
 * A cache file whose descriptor may be closed between uses, so that thousands of objects can be open at once. It is
 * reopened like the first time, through trusted directories.
 */
export class PooledFile {
  readonly #path: string;
  readonly #open: () => EntryFile;
  #device = 0;
  /** 0 until it has been opened. */
  #inode = 0;
  #isEnded = false;

  /** @param open Opens the file, which the pool closes. */
  constructor(path: string, open: () => EntryFile) {
    this.#path = path;
    this.#open = open;
  }

  /** Lends the open file for one call. Throws a FormatError (`changed`) if another file has its name now. */
  use<T>(call: (file: EntryFile) => T): T {
    if (this.#isEnded) throw new Error(`${this.#path} has been closed`);
    const lease = descriptors.borrow(this, this.#openAgain);
    try {
      return call(lease.descriptor as EntryFile);
    } finally {
      descriptors.release(lease);
    }
  }

  /** Uses a file that is already open, instead of opening it. */
  begin(file: EntryFile): void {
    const lease = descriptors.borrow(this, () => this.#known(file));
    descriptors.release(lease);
  }

  /** Closes the descriptor. The next use opens the file of that name then. */
  close(): void {
    descriptors.drop(this);
    this.#inode = 0;
  }

  /** Closes the file for good. Later uses, such as by a request in flight, fail. */
  end(): void {
    this.#isEnded = true;
    this.close();
  }

  readonly #openAgain = (): EntryFile => this.#known(this.#open());

  /** Checks that it is the file that was opened first. */
  #known(file: EntryFile): EntryFile {
    try {
      const { device, inode } = file.facts();
      if (this.#inode === 0) {
        this.#device = device;
        this.#inode = inode;
      } else if (device !== this.#device || inode !== this.#inode) {
        throw changedFile(this.#path, this.#inode, inode);
      }
      return file;
    } catch (error) {
      file.close();
      throw error;
    }
  }
}
