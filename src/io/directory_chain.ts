import { RecordfsError } from "../errors.ts";
import type { Directory, Links } from "./directory.ts";

/** How many directories of a chain are open at once, beside its root. */
const MOST_OPEN = 32;

interface Link {
  readonly name: string;
  readonly identity: string;
  directory: Directory | undefined;
}

/**
 * The directories from a root down to the one that is being worked in, entered name by name.
 *
 * The root and the deepest are held open; the others are opened again, by the same names, when the
 * work returns to them, and have to be the same then. So a chain can be of any length.
 */
export class DirectoryChain {
  readonly #root: Directory;
  readonly #links: Links;
  readonly #below: Link[] = [];

  /**
   * @param root Is closed with the chain.
   * @param links Whether symbolic links to directories are entered.
   */
  constructor(root: Directory, links: Links) {
    this.#root = root;
    this.#links = links;
  }

  /** How many directories lie below the root. */
  get depth(): number {
    return this.#below.length;
  }

  /** The directory that the chain ends in. */
  get last(): Directory {
    const link = this.#below.at(-1);
    return link === undefined ? this.#root : link.directory!;
  }

  /** The name of the directory at a depth, 1 being the first below the root. */
  nameAt(depth: number): string | undefined {
    return this.#below[depth - 1]?.name;
  }

  /** Enters a directory of the last one, which is the last from then on. */
  enter(name: string): Directory {
    const directory = this.last.open(name, this.#links);
    this.#below.push({ name, identity: directory.identity, directory });
    this.#release(this.depth - 1 - MOST_OPEN);
    return directory;
  }

  /**
   * Returns from the last directory to one that it was entered through.
   *
   * @param depth How many directories to stay below the root.
   * @throws {RecordfsError} If that is not there any more; the chain then ends above it.
   */
  leaveTo(depth: number): void {
    for (const { directory } of this.#below.splice(depth)) directory?.close();
    const last = this.#below.at(-1);
    if (last !== undefined && last.directory === undefined) this.#reopen();
  }

  /** Closes all of it. */
  close(): void {
    this.leaveTo(0);
    this.#root.close();
  }

  /** Opens the last directory, and those it was reached through, from the root on. */
  #reopen(): void {
    let directory = this.#root;
    for (const [i, link] of this.#below.entries()) {
      try {
        directory = openAgain(directory, link, this.#links);
      } catch (error) {
        this.#below.length = i; // what is left of it is open
        throw error;
      }
      link.directory = directory;
      this.#release(i - MOST_OPEN);
    }
  }

  #release(index: number): void {
    const link = this.#below[index];
    link?.directory?.close();
    if (link !== undefined) link.directory = undefined;
  }
}

function openAgain(parent: Directory, link: Link, links: Links): Directory {
  const directory = parent.open(link.name, links);
  if (directory.identity === link.identity) return directory;
  directory.close();
  throw new RecordfsError(
    "changed",
    `${directory.path} was replaced by another directory meanwhile`,
    { path: directory.path },
  );
}
