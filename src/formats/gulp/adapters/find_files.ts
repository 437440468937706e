import * as fs from "node:fs";
import { byCodePoint } from "../../../names.ts";
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
  return entriesOf(directory)
    .filter(({ name, isFile }) =>
      isFile && extensions.some((extension) => name.endsWith(extension))
    )
    .map(({ name }) => join(directory, name)).sort(byCodePoint);
}

/** The directories in a directory, sorted; hidden ones are left out. */
export function directoriesIn(directory: string): string[] {
  return entriesOf(directory).filter(({ isDirectory }) => isDirectory)
    .map(({ name }) => join(directory, name)).sort(byCodePoint);
}

/**
 * The files below a directory, at any depth, whose names end in one of `extensions`, sorted by their
 * paths. Links are followed; hidden files and directories are left out.
 */
export function filesBelow(
  directory: string,
  extensions: readonly string[],
): string[] {
  const found: string[] = [];
  /** Directories to look into, with those that they lie in. */
  const pending = [{ path: directory, within: [] as readonly string[] }];
  for (
    let next = pending.pop();
    next !== undefined;
    next = pending.pop()
  ) {
    const { path, within } = next;
    const real = reading(path, () => fs.realpathSync(path));
    if (within.includes(real)) continue; // a link that leads back
    found.push(...filesIn(path, extensions));
    const inner = [...within, real];
    for (const child of directoriesIn(path)) {
      pending.push({ path: child, within: inner });
    }
  }
  return found.sort(byCodePoint);
}

/**
 * The files below a directory, at any depth, each labelled by the name of its directory; the id is
 * `label-name`, and `path` of the meta data the directory.
 */
export function filesByFolder(
  folder: string,
  extensions: readonly string[],
): FoundFile[] {
  return filesBelow(withoutSlash(folder), extensions).map((path) => {
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

interface Entry {
  readonly name: string;
  readonly isFile: boolean;
  readonly isDirectory: boolean;
}

function entriesOf(directory: string): Entry[] {
  const entries = reading(
    directory,
    () => fs.readdirSync(directory, { withFileTypes: true }),
  );
  return entries.filter(({ name }) => !name.startsWith(".")).map((entry) => {
    const { name } = entry;
    const found = entry.isSymbolicLink()
      ? follow(join(directory, name))
      : entry;
    return {
      name,
      // A link that leads nowhere is a file that fails, so that it is named and not just missing.
      isFile: found?.isFile() ?? true,
      isDirectory: found?.isDirectory() ?? false,
    };
  });
}

/** What a link leads to, if that can be told. */
function follow(link: string): fs.Stats | undefined {
  try {
    return fs.statSync(link);
  } catch {
    return undefined;
  }
}
