import { PACKAGES } from "../../base/packages.ts";
import { compileGlob } from "../../tree/vfs/glob.ts";
import { type FilteredEntry, PathFilter } from "../../tree/vfs/path_filter.ts";

/** Whether an entry of a walk is a chosen file. The walk must pass directories too, before their files. */
export type ChooseFile = (entry: FilteredEntry) => boolean;

/** Selects the files of a container that are samples. */
export interface ChooseFilesOptions {
  /**
   * Files that match a glob, one of several globs, or a function of the path. `*` and `?` match any characters but
   * `/`, `**` any directories, `[a-z]` one character, `{a,b}` either alternative. A glob without a slash is matched
   * against names at any depth; one that matches a directory includes everything in it. Defaults to all files.
   */
  readonly files?: string | readonly string[] | ((path: string) => boolean);
  /** Exactly these files, in this order, repeats allowed. Excludes `files`. */
  readonly paths?: readonly string[];
}

/**
 * Returns a predicate for the entries of a walk, which must include directories.
 *
 * @throws {RecordfsError} With code `bad-pattern` if a glob is invalid.
 */
export async function chooserOf(
  files: ChooseFilesOptions["files"],
): Promise<ChooseFile> {
  if (files === undefined) return () => true;
  if (typeof files === "function") {
    return ({ path, isDirectory }) => !isDirectory && files(path);
  }
  const globs = typeof files === "string" ? [files] : files;
  if (globs.length === 0) return () => false;
  // By a variable: Deno fetches packages that are named in import expressions before any program starts.
  const { default: { makeRe } } = await import(PACKAGES.picomatch);
  const compile = (glob: string) => compileGlob(glob, makeRe);
  const filter = new PathFilter(globs, [], compile);
  return (entry) => filter.accepts(entry);
}
