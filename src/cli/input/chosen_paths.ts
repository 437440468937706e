import { RecordfsError } from "../../base/errors.ts";
import type { VirtualFs } from "../../tree/vfs/virtual_fs.ts";
import type { WalkEntry } from "../../tree/vfs/walk.ts";
import { PathPattern } from "../../tree/vfs/path_filter.ts";
import { normalise } from "../../tree/vfs/paths.ts";

export const GLOB_HELP = `
PATH may be a glob, quoted so that the shell does not expand it: *, ?, [a-z],
[!a-z], {a,b}, and ** for any number of directories. Without a slash it matches
names at any depth; with one, it matches the path from the root, so '/*.txt'
matches only in the root itself. An entry of exactly that name takes precedence,
and a backslash escapes the next character. A glob that matches nothing is an
error.`;

/** A glob among the paths of a command. */
export interface ChosenGlob {
  readonly text: string;
  readonly pattern: PathPattern;
  /** Whether anything has matched it so far. */
  found: boolean;
}

/** A literal path, or a glob. */
export type Chosen = string | ChosenGlob;

/**
 * Classifies the paths of a command. A path is literal if the entry exists or if it has no special characters;
 * otherwise it is a glob.
 *
 * @throws {UsageError} If it is not a valid glob, and there is no such entry.
 */
export async function chosenPaths(
  fs: VirtualFs,
  paths: readonly string[],
): Promise<readonly Chosen[]> {
  const chosen: Chosen[] = [];
  for (const path of paths) {
    if (!/[*?[{\\]/.test(path) || await fs.exists(path)) {
      chosen.push(path);
      continue;
    }
    const { compileGlob } = await import("./glob.ts"); // imported lazily, because it loads a package
    const pattern = new PathPattern(path, compileGlob);
    chosen.push({ text: path, pattern, found: false });
  }
  return chosen;
}

/**
 * Yields the entries that match any of the globs, each once, in container order; directories come before their
 * content. Sets `found` of the globs that match.
 *
 * @param below Whether a matching directory includes everything below it.
 */
export async function* matching(
  fs: VirtualFs,
  globs: readonly ChosenGlob[],
  below: boolean,
  signal?: AbortSignal,
): AsyncGenerator<WalkEntry, void, undefined> {
  let directory: string | undefined; // the last that matches
  const isBelow = (path: string) =>
    below && directory !== undefined && path.startsWith(directory);
  const entries = globs.every(({ pattern }) => pattern.hasDepth)
    ? pruned(fs, (path) =>
      isBelow(`${path}/`) ||
      globs.some(({ pattern }) => pattern.mayMatchIn(path)), signal)
    : fs.walk("", { signal });
  for await (const entry of entries) {
    let matches = false;
    for (const glob of globs) {
      if (matches && glob.found) continue;
      if (!glob.pattern.matches(entry)) continue;
      matches = glob.found = true;
    }
    const isIn = isBelow(entry.path);
    if (matches && !isIn && entry.isDirectory) directory = `${entry.path}/`;
    if (matches || isIn) yield entry;
  }
}

/** Walks only through the directories that `enters` accepts. */
async function* pruned(
  fs: VirtualFs,
  enters: (path: string) => boolean,
  signal: AbortSignal | undefined,
): AsyncGenerator<WalkEntry, void, undefined> {
  const options = { maxDepth: 1, signal };
  const levels = [fs.walk("", options)];
  for (;;) {
    const next = await levels.at(-1)?.next();
    if (next === undefined) return;
    if (next.done) {
      levels.pop();
      continue;
    }
    const { path, isDirectory } = next.value;
    yield { ...next.value, depth: levels.length };
    if (isDirectory && enters(path)) levels.push(fs.walk(path, options));
  }
}

export function nothingMatches(
  source: string,
  { text }: ChosenGlob,
  what = "file or directory",
): RecordfsError {
  return new RecordfsError(
    "not-found",
    `No ${what} in ${source} matches '${text}'`,
    { path: text },
  );
}

/** Drops paths that lie below others of them, so that nothing is processed twice. */
export function withoutOverlap(paths: readonly string[]): string[] {
  const wanted = new Set(paths.map(normalise));
  return [...wanted].filter((path) =>
    path === "" ||
    !isWithin(path.slice(0, Math.max(path.lastIndexOf("/"), 0)), wanted)
  );
}

/** Whether a path is one of these, or lies below one. */
export function isWithin(path: string, paths: ReadonlySet<string>): boolean {
  if (paths.has("")) return true;
  for (let end = path.length; end > 0; end = path.lastIndexOf("/", end - 1)) {
    if (paths.has(path.slice(0, end))) return true;
  }
  return false;
}
