import { RecordfsError } from "../../base/errors.ts";
import type { Steps } from "../concurrency/steps.ts";
import { isUrl } from "../remote/remote_location.ts";
import { BracePattern } from "./brace_pattern.ts";
import { patternError, shardPatterns } from "./shard_patterns.ts";
import type { Storage } from "./storage.ts";

/**
 * Returns the paths that a pattern names, such as `train-{000000..000146}.tar`, or several joined by `::`; `undefined`
 * for a path.
 *
 * @throws {FormatError} If the pattern names too many.
 */
export function* patternPaths(
  path: string,
  storage: Storage,
): Steps<readonly string[] | undefined> {
  const patterns = shardPatterns(path);
  if (patterns === undefined || (yield* isThere(path, storage))) {
    return undefined;
  }
  return expand(path, patterns);
}

/** Whether a file with the pattern as its literal name exists; if that is unknown, assumes a pattern. */
function* isThere(path: string, storage: Storage): Steps<boolean> {
  try {
    return (yield* storage.stat(path)) !== undefined;
  } catch (error) {
    if (error instanceof RecordfsError) return false;
    throw error;
  }
}

function expand(path: string, patterns: readonly BracePattern[]): string[] {
  let paths: string[];
  try {
    paths = BracePattern.expand(patterns);
  } catch (error) {
    throw patternError(path, error);
  }
  const isRemote = isUrl(path);
  if (paths.every((one) => isUrl(one) === isRemote)) return paths;
  throw new RecordfsError(
    "bad-location",
    `Cannot open ${path}: it names files of this machine and of a server. ` +
      "Open them as several containers (`open([…])`, or --add)",
    { path },
  );
}

/** Maximum number of parent directories kept in front of a container's own. */
const MOST_PARENTS = 4;

/**
 * Returns the directories in which to show containers: their names without suffix, preceded by as many parent
 * directories as make them distinct. Duplicates get a number.
 */
export function directoriesOf(
  paths: readonly string[],
  suffix: string,
): string[][] {
  const all = paths.map((path) => {
    const parts = path.split("/")
      .filter((part) => !/^(\.{0,2}|[a-z][a-z0-9+.-]+:)$/i.test(part));
    const name = parts.pop() ?? path;
    const own = name.endsWith(suffix) ? name.slice(0, -suffix.length) : name;
    return [...parts.slice(-MOST_PARENTS), own || name];
  });
  for (let length = 1; length <= MOST_PARENTS + 1; length++) {
    const directories = all.map((parts) => parts.slice(-length));
    if (areApart(directories)) return directories;
  }
  const names = new Set<string>();
  return all.map((parts) => {
    const own = parts.at(-1)!;
    let name = own;
    for (let number = 2; names.has(name); number++) name = `${own}~${number}`;
    names.add(name);
    return [name];
  });
}

/** Whether no directory equals or contains another. */
function areApart(directories: readonly (readonly string[])[]): boolean {
  const paths = new Set(directories.map((parts) => parts.join("/")));
  const isAlone = (parts: readonly string[]) =>
    parts.every((_, i) => i === 0 || !paths.has(parts.slice(0, i).join("/")));
  return paths.size === directories.length && directories.every(isAlone);
}
