import * as fs from "node:fs";
import { byCodePoint } from "../../../base/names.ts";
import { inputError, reading } from "./input_error.ts";
import type { LabelledVideo } from "./listed_adapter.ts";

/** Labelled video whose frames are in one file, or in the files of a directory. */
export type FoundFile = LabelledVideo & { readonly path: string };

/**
 * Returns the paths of a directory's files whose names end in one of `extensions`, sorted and without hidden files, as
 * Python's `glob` does.
 */
export function filesIn(
  directory: string,
  extensions: readonly string[],
): string[] {
  return entriesOf(directory).filter(({ path, isFile }) =>
    isFile && extensions.some((extension) => path.endsWith(extension))
  ).map(({ path }) => path);
}

/** Returns the paths of a directory's subdirectories, sorted and without hidden ones. */
export function directoriesIn(directory: string): string[] {
  return entriesOf(directory).filter(({ isDirectory }) => isDirectory)
    .map(({ path }) => path);
}

/** Lists files at any depth by extension. Follows links; skips hidden entries. `within` has the real paths above. */
function filesBelow(
  directory: string,
  extensions: readonly string[],
  within: readonly string[] = [],
): string[] {
  const real = reading(directory, () => fs.realpathSync(directory));
  if (within.includes(real)) return []; // a link back to a parent
  const inner = [...within, real];
  return [
    ...filesIn(directory, extensions),
    ...directoriesIn(directory)
      .flatMap((child) => filesBelow(child, extensions, inner)),
  ];
}

/**
 * Finds files at any depth, each labelled with the name of its directory. The id is `label-name`; `path` in the
 * metadata is the directory.
 */
export function filesByFolder(
  folder: string,
  extensions: readonly string[],
): FoundFile[] {
  const files = filesBelow(withoutSlash(folder), extensions);
  return files.sort(byCodePoint).map((path) => {
    const slash = path.lastIndexOf("/");
    const directory = path.slice(0, Math.max(slash, 0));
    const label = directory.slice(directory.lastIndexOf("/") + 1);
    const id = `${label}-${path.slice(slash + 1)}`;
    return { id, label, path, meta: { path: directory } };
  });
}

/** Names what is looked for in directories named by label, and where, for an error. */
export function soughtByFolder(
  what: string,
  folder: string,
  extensions: readonly string[],
): string {
  const where = join(withoutSlash(folder), "LABEL/");
  return `${what} found in ${where} (looked for ${extensions.join(", ")})`;
}

/** Returns the only file of a directory with an extension. */
export function onlyFileIn(directory: string, extension: string): string {
  const [first, second] = filesIn(directory, [extension]);
  if (first === undefined) {
    throw inputError(directory, `it holds no ${extension} file`);
  }
  if (second !== undefined) {
    throw inputError(
      directory,
      `it holds more than one ${extension} file: ${first} and ${second}`,
    );
  }
  return first;
}

/** Joins paths as Python's `os.path.join` does. */
export function join(directory: string, name: string): string {
  if (directory === "" || name.startsWith("/")) return name;
  return directory.endsWith("/") ? directory + name : `${directory}/${name}`;
}

/** Removes trailing slashes, except from `/`. */
export function withoutSlash(path: string): string {
  return path.replace(/(?<=[^/])\/+$/, "");
}

/** Returns the entries of a directory, sorted and without hidden ones. */
function entriesOf(directory: string) {
  const entries = reading(
    directory,
    () => fs.readdirSync(directory, { withFileTypes: true }),
  );
  return entries.filter(({ name }) => !name.startsWith(".")).map((entry) => {
    const path = join(directory, entry.name);
    const found = entry.isSymbolicLink() ? follow(path) : entry;
    return {
      path,
      // A broken link counts as a file: reading it fails with its name, instead of silently omitting it.
      isFile: found?.isFile() ?? true,
      isDirectory: found?.isDirectory() ?? false,
    };
  }).sort((a, b) => byCodePoint(a.path, b.path));
}

function follow(link: string): fs.Stats | undefined {
  try {
    return fs.statSync(link);
  } catch {
    return undefined;
  }
}
