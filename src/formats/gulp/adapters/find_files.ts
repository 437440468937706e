import * as fs from "node:fs";
import { byCodePoint } from "../../../base/names.ts";
import type { FrameFile } from "./frame_sources.ts";
import { inputError, reading } from "./input_error.ts";
import type { LabelledVideo } from "./listed_adapter.ts";

/** A labelled video whose frames are in a file, or in the files of a directory. */
export type FoundFile = LabelledVideo & FrameFile;

/**
 * The files of a directory whose names end in one of `extensions`, sorted; hidden ones are left out,
 * as in Python's `glob`.
 */
export function filesIn(
  directory: string,
  extensions: readonly string[],
): string[] {
  return entriesOf(directory).filter(({ path, isFile }) =>
    isFile && extensions.some((extension) => path.endsWith(extension))
  ).map(({ path }) => path);
}

/** The directories in a directory, sorted; hidden ones are left out. */
export function directoriesIn(directory: string): string[] {
  return entriesOf(directory).filter(({ isDirectory }) => isDirectory)
    .map(({ path }) => path);
}

/**
 * The files below a directory, at any depth, whose names end in one of `extensions`. Links are followed;
 * hidden files and directories are left out.
 *
 * @param within The directories that it lies in.
 */
function filesBelow(
  directory: string,
  extensions: readonly string[],
  within: readonly string[] = [],
): string[] {
  const real = reading(directory, () => fs.realpathSync(directory));
  if (within.includes(real)) return []; // a link that leads back
  const inner = [...within, real];
  return [
    ...filesIn(directory, extensions),
    ...directoriesIn(directory)
      .flatMap((child) => filesBelow(child, extensions, inner)),
  ];
}

/**
 * The files below a directory, at any depth, each labelled by the name of its directory; the id is
 * `label-name`, and `path` of the meta data the directory.
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

/** The one file of a directory with an extension. */
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

/** A path as Python's `os.path.join` makes it. */
export function join(directory: string, name: string): string {
  if (directory === "" || name.startsWith("/")) return name;
  return directory.endsWith("/") ? directory + name : `${directory}/${name}`;
}

/** Without the slashes at its end, but `/` stays what it is. */
export function withoutSlash(path: string): string {
  return path.replace(/(?<=[^/])\/+$/, "");
}

/** What is in a directory and not hidden, sorted. */
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
      // A link that leads nowhere is a file that fails, so that it is named and not just missing.
      isFile: found?.isFile() ?? true,
      isDirectory: found?.isDirectory() ?? false,
    };
  }).sort((a, b) => byCodePoint(a.path, b.path));
}

/** What a link leads to, if that can be told. */
function follow(link: string): fs.Stats | undefined {
  try {
    return fs.statSync(link);
  } catch {
    return undefined;
  }
}
