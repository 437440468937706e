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
  readonly #include: readonly PathPattern[];
  readonly #exclude: readonly PathPattern[];
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
    this.#include = include.map((glob) => new PathPattern(glob, compile));
    this.#exclude = exclude.map((glob) => new PathPattern(glob, compile));
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

/**
 * One pattern: without a slash it is compared with names at any depth, with one with whole paths; a
 * slash at its end makes it one for directories only.
 */
export class PathPattern {
  readonly #glob: Glob;
  readonly #wholePath: boolean;
  readonly #directoriesOnly: boolean;
  /** For each depth but the last, what directories there have to match; none where any depth may. */
  readonly #levels: readonly Glob[] | undefined;

  /** @param compile Understands a glob, or throws. */
  constructor(text: string, compile: (glob: string) => Glob) {
    const [, glob] = /^(.*?)\/*$/s.exec(text)!;
    this.#directoriesOnly = glob !== text;
    this.#wholePath = glob!.includes("/");
    const whole = glob!.replace(/^\/+/, "");
    this.#glob = compile(whole);
    const parts = this.#wholePath ? partsOf(whole) : undefined;
    this.#levels = parts?.slice(1)
      .map((_, i) => compile(parts.slice(0, i + 1).join("/")));
  }

  /** Whether all that matches is at one depth, so that it need not be looked for everywhere. */
  get hasDepth(): boolean {
    return this.#levels !== undefined;
  }

  /** Whether an entry matches. */
  matches(entry: FilteredEntry): boolean {
    if (this.#directoriesOnly && !entry.isDirectory) return false;
    if (!this.#wholePath) return this.#glob(entry.name);
    const levels = this.#levels;
    if (levels !== undefined && levels.length + 1 !== entry.depth) return false;
    return this.#glob(entry.path);
  }

  /** Whether something in a directory, at whatever depth, may match. */
  mayMatchIn(directory: string): boolean {
    if (this.#levels === undefined) return true;
    const level = this.#levels[directory.split("/").length - 1];
    return level !== undefined && level(directory);
  }
}

/** A glob taken apart at its slashes; not one that matches at any depth, or has slashes in braces. */
function partsOf(glob: string): readonly string[] | undefined {
  if (/\*\*|\/\/|\(/.test(glob)) return undefined;
  const parts = [""];
  let braces = 0;
  for (const [part] of glob.matchAll(/\\.|[^]/g)) {
    if (part === "{") braces++;
    if (part === "}") braces--;
    if (part === "/" && braces > 0) return undefined;
    if (part === "/") parts.push("");
    else parts[parts.length - 1] += part;
  }
  return parts;
}
