import type { Glob } from "./glob.ts";

/** A file or directory that is to be taken or not. */
export interface FilteredEntry {
  /** Path from the folder that is looked through. */
  readonly path: string;
  /** Last part of the path. */
  readonly name: string;
  /** How many names below that folder: 1 for its own entries. */
  readonly depth: number;
  readonly isDirectory: boolean;
}

/**
 * Chooses files and directories by patterns. One without a slash is compared with names at any
 * depth, another with whole paths; a slash at its end makes it one for directories only. One that
 * matches a directory stands for everything in it.
 *
 * Entries are asked about in the order of a walk, each directory before what it holds. Paths are only looked at
 * by patterns that are about paths: written out, those of folders in folders take gigabytes.
 */
export class PathFilter {
  readonly #include: readonly Pattern[];
  readonly #exclude: readonly Pattern[];
  /** By depth, whether the directory that the walk is in there, or one above it, matches. */
  readonly #included = [false];

  /**
   * @param include Files that none of these stands for are left out; with none, no file is.
   * @param exclude What one of these stands for is left out in any case.
   * @param compile Understands a glob, or throws.
   */
  constructor(
    include: readonly string[],
    exclude: readonly string[],
    compile: (glob: string) => Glob,
  ) {
    this.#include = include.map((glob) => new Pattern(glob, compile));
    this.#exclude = exclude.map((glob) => new Pattern(glob, compile));
  }

  /** Whether what is not excluded is taken, so that a directory means something on its own. */
  get keepsAll(): boolean {
    return this.#include.length === 0;
  }

  /**
   * Whether an entry is to be taken, a directory for what it may hold. What an excluded one holds
   * must not be asked for.
   */
  accepts(entry: FilteredEntry): boolean {
    if (this.#exclude.some((pattern) => pattern.matches(entry))) return false;
    if (this.keepsAll) return true;
    const { depth, isDirectory } = entry;
    const isIncluded = this.#included[depth - 1]! ||
      this.#matchesInclude(entry);
    if (isDirectory) this.#included[depth] = isIncluded;
    return isDirectory || isIncluded;
  }

  #matchesInclude(entry: FilteredEntry): boolean {
    return this.#include.some((pattern) => pattern.matches(entry));
  }
}

class Pattern {
  readonly #glob: Glob;
  readonly #wholePath: boolean;
  /** How many names there are in all that it can match, where that is the same for all. */
  readonly #depth: number | undefined;
  readonly #directoriesOnly: boolean;

  constructor(text: string, compile: (glob: string) => Glob) {
    const [, glob] = /^(.*?)\/*$/s.exec(text)!;
    this.#directoriesOnly = glob !== text;
    this.#wholePath = glob!.includes("/");
    const fromRoot = glob!.replace(/^\/+/, "");
    this.#glob = compile(fromRoot);
    const mayVary = /\*\*|[{[\\]|\/\//.test(fromRoot);
    this.#depth = mayVary ? undefined : fromRoot.split("/").length;
  }

  matches(entry: FilteredEntry): boolean {
    if (this.#directoriesOnly && !entry.isDirectory) return false;
    if (!this.#wholePath) return this.#glob(entry.name);
    if (this.#depth !== undefined && this.#depth !== entry.depth) return false;
    return this.#glob(entry.path);
  }
}
