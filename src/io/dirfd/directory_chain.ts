import { RecordfsError } from "../../base/errors.ts";
import type { Directory, Links } from "./directory.ts";

/** A directory stays open up to this many times its depth's largest power of two behind the last one. */
const REACH = 4;

interface Link {
  readonly name: string;
  readonly identity: string;
  directory: Directory | undefined;
}

/**
 * The directories from a root down to the current one, entered name by name.
 *
 * The root and some of the others stay open: the deepest, and fewer the farther up. A closed one is reopened by name
 * from the nearest open one above it, and must have the same identity. So chains may have any length: at depth n, 2
 * log2(n) descriptors are open, and entering all directories and leaving them one by one takes at most n log2(n) steps.
 */
export class DirectoryChain {
  readonly #root: Directory;
  readonly #links: Links;
  readonly #below: Link[] = [];

  /** @param root Closed with the chain. */
  constructor(root: Directory, links: Links) {
    this.#root = root;
    this.#links = links;
  }

  get depth(): number {
    return this.#below.length;
  }

  get last(): Directory {
    const link = this.#below.at(-1);
    return link === undefined ? this.#root : link.directory!;
  }

  /** Returns the name of the directory at a depth; 1 is the first below the root. */
  nameAt(depth: number): string | undefined {
    return this.#below[depth - 1]?.name;
  }

  enter(name: string): Directory {
    const directory = this.last.open(name, this.#links);
    this.#below.push({ name, identity: directory.identity, directory });
    // For each power of two, at most one directory has just moved out of reach.
    for (let power = 1; power * REACH < this.depth; power *= 2) {
      const depth = this.depth - power * REACH - 1;
      if (depth > 0 && largestPower(depth) === power) this.#release(depth);
    }
    return directory;
  }

  /**
   * Returns to the directory at a depth below the root. Throws a {@linkcode RecordfsError} if that no longer exists;
   * the chain then ends above it.
   */
  leaveTo(depth: number): void {
    // Deepest first, and without splice, which would copy a long list.
    while (this.#below.length > depth) this.#below.pop()!.directory?.close();
    const last = this.#below.at(-1);
    if (last !== undefined && last.directory === undefined) this.#reopen();
  }

  close(): void {
    this.leaveTo(0);
    this.#root.close();
  }

  /** Reopens the last directory, from the nearest open one above it. */
  #reopen(): void {
    let open = this.depth - 1;
    while (open > 0 && this.#below[open - 1]!.directory === undefined) open--;
    let directory = open === 0 ? this.#root : this.#below[open - 1]!.directory!;
    for (let depth = open + 1; depth <= this.depth; depth++) {
      const link = this.#below[depth - 1]!;
      try {
        directory = openAgain(directory, link, this.#links);
      } catch (error) {
        this.#below.length = depth - 1; // its last is open: a directory closes only once the next one is open
        throw error;
      }
      link.directory = directory;
      const before = depth - 1;
      if (before > open && !this.#isInReach(before)) this.#release(before);
    }
  }

  /** Whether the directory at a depth stays open while the last one is in use. */
  #isInReach(depth: number): boolean {
    return this.depth - depth <= REACH * largestPower(depth);
  }

  #release(depth: number): void {
    const link = this.#below[depth - 1]!;
    link.directory?.close();
    link.directory = undefined;
  }
}

/** Returns the largest power of two that divides `depth`, which is at least 1. */
function largestPower(depth: number): number {
  return depth & -depth;
}

function openAgain(parent: Directory, link: Link, links: Links): Directory {
  const directory = parent.open(link.name, links);
  if (directory.identity === link.identity) return directory;
  directory.close();
  throw new RecordfsError(
    "changed",
    `Cannot use ${directory.path}: it was replaced by another directory meanwhile`,
    { path: directory.path },
  );
}
