import { RecordfsError } from "../../base/errors.ts";
import type { Directory, Links } from "./directory.ts";

/** Multiple of a depth's largest power of two for which its directory stays open behind the last one. */
const REACH = 4;

interface Link {
  readonly name: string;
  readonly identity: string;
  directory: Directory | undefined;
}

/**
 * The directories from a root down to the one that is being worked in, entered name by name.
 *
 * The root and some of the others are held open: the deepest, and the farther from them, the fewer. What is
 * closed is opened again from the nearest above it, by the same names, when the work returns to it, and has
 * to be the same then. So a chain can be of any length: n directories deep, it has 2 log2(n) descriptors, and to
 * enter all of them and to leave them one by one takes n log2(n) steps at most.
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

  /** Number of directories below the root. */
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
    // Of each power of two, at most one has just come to lie too far behind.
    for (let power = 1; power * REACH < this.depth; power *= 2) {
      const depth = this.depth - power * REACH - 1;
      if (depth > 0 && largestPower(depth) === power) this.#release(depth);
    }
    return directory;
  }

  /**
   * Returns from the last directory to one that it was entered through.
   *
   * @param depth How many directories to stay below the root.
   * @throws {RecordfsError} If that is not there any more; the chain then ends above it.
   */
  leaveTo(depth: number): void {
    // The deepest first, and not by splice, which would copy what may be long.
    while (this.#below.length > depth) this.#below.pop()!.directory?.close();
    const last = this.#below.at(-1);
    if (last !== undefined && last.directory === undefined) this.#reopen();
  }

  /** Closes all of it. */
  close(): void {
    this.leaveTo(0);
    this.#root.close();
  }

  /** Opens the last directory, through those above it from the nearest that is open. */
  #reopen(): void {
    let open = this.depth - 1;
    while (open > 0 && this.#below[open - 1]!.directory === undefined) open--;
    let directory = open === 0 ? this.#root : this.#below[open - 1]!.directory!;
    for (let depth = open + 1; depth <= this.depth; depth++) {
      const link = this.#below[depth - 1]!;
      try {
        directory = openAgain(directory, link, this.#links);
      } catch (error) {
        this.#below.length = depth - 1; // its last is open: it was closed after the next only
        throw error;
      }
      link.directory = directory;
      const before = depth - 1;
      if (before > open && !this.#isInReach(before)) this.#release(before);
    }
  }

  /** True if the directory at a depth is to be open while the last one is worked in. */
  #isInReach(depth: number): boolean {
    return this.depth - depth <= REACH * largestPower(depth);
  }

  #release(depth: number): void {
    const link = this.#below[depth - 1]!;
    link.directory?.close();
    link.directory = undefined;
  }
}

/** The largest power of two that divides a number from 1 on. */
function largestPower(depth: number): number {
  return depth & -depth;
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
