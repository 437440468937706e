import type { Glob } from "./glob.ts";

/** A file or directory that is to be taken or not. */
export interface FilteredEntry {
  /** Path from the folder that is looked through. */
  readonly path: string;
  readonly isDirectory: boolean;
}

/**
 * Chooses files and directories by patterns. One without a slash is compared with names at any
 * depth, another with whole paths; a slash at its end makes it one for directories only. One that
 * matches a directory stands for everything in it.
 */
export class PathFilter {
  readonly #include: readonly PathPattern[];
  readonly #exclude: readonly PathPattern[];
  /** The directory looked at last, since what is in it comes one after the other. */
  #parent = "";
  #parentIncluded = false;

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
    return entry.isDirectory || this.keepsAll || this.#matchesInclude(entry) ||
      this.#isIncluded(parentOf(entry.path));
  }

  /** Whether a directory, or one that it lies in, matches. */
  #isIncluded(directory: string): boolean {
    if (directory === "") return false;
    if (directory !== this.#parent) {
      const included = this.#isIncluded(parentOf(directory)) ||
        this.#matchesInclude({ path: directory, isDirectory: true });
      this.#parent = directory;
      this.#parentIncluded = included;
    }
    return this.#parentIncluded;
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
  matches({ path, isDirectory }: FilteredEntry): boolean {
    if (this.#directoriesOnly && !isDirectory) return false;
    return this.#glob(this.#wholePath ? path : nameOf(path));
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
  if (glob.includes("**")) return undefined;
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

function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf("/")));
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}
