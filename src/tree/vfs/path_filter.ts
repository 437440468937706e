import type { Glob } from "./glob.ts";

export interface FilteredEntry {
  readonly path: string;
  readonly name: string;
  /** Number of names below that folder: 1 for its own entries. */
  readonly depth: number;
  readonly isDirectory: boolean;
}

/**
 * Selects files and directories by patterns. A pattern without a slash matches names at any depth, any other matches
 * whole paths; a trailing slash restricts it to directories. A pattern that matches a directory covers everything in
 * it.
 *
 * Entries must be passed in walk order, each directory before its contents. Only patterns with slashes read paths: for
 * deeply nested folders, the written-out paths take gigabytes.
 */
export class PathFilter {
  readonly #include: readonly PathPattern[];
  readonly #exclude: readonly PathPattern[];
  /** By depth: whether the current directory there, or one above it, matches. */
  readonly #included = [false];

  /**
   * @param include Patterns of files to keep; if empty, all are kept.
   * @param exclude Patterns of entries to skip in any case.
   * @param compile Compiles a glob, or throws.
   */
  constructor(
    include: readonly string[],
    exclude: readonly string[],
    compile: (glob: string) => Glob,
  ) {
    this.#include = include.map((glob) => new PathPattern(glob, compile));
    this.#exclude = exclude.map((glob) => new PathPattern(glob, compile));
  }

  /** Whether everything that is not excluded is kept, including empty directories. */
  get keepsAll(): boolean {
    return this.#include.length === 0;
  }

  /**
   * Whether to keep an entry; directories are kept for their contents. Contents of excluded ones must not be passed.
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

/** One pattern; see {@linkcode PathFilter}. */
export class PathPattern {
  readonly #glob: Glob;
  readonly #wholePath: boolean;
  readonly #directoriesOnly: boolean;
  /** Globs for the directory at each depth but the last; `undefined` if matches may be at any depth. */
  readonly #levels: readonly Glob[] | undefined;

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

  /** Whether all matches are at one depth, so that the search can be limited to it. */
  get hasDepth(): boolean {
    return this.#levels !== undefined;
  }

  matches(entry: FilteredEntry): boolean {
    if (this.#directoriesOnly && !entry.isDirectory) return false;
    if (!this.#wholePath) return this.#glob(entry.name);
    const levels = this.#levels;
    if (levels !== undefined && levels.length + 1 !== entry.depth) return false;
    return this.#glob(entry.path);
  }

  /** Whether anything below a directory, at any depth, may match. */
  mayMatchIn(directory: string): boolean {
    if (this.#levels === undefined) return true;
    const level = this.#levels[directory.split("/").length - 1];
    return level !== undefined && level(directory);
  }
}

/** Splits a glob at its slashes; `undefined` if it matches at any depth, or has slashes in braces. */
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
