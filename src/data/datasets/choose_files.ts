import { PACKAGES } from "../../base/packages.ts";
import { compileGlob } from "../../tree/vfs/glob.ts";
import { type FilteredEntry, PathFilter } from "../../tree/vfs/path_filter.ts";

/** Says of an entry of a walk, in which files come with their directories, whether it is a file that is chosen. */
export type ChooseFile = (entry: FilteredEntry) => boolean;

/** Which files of a container are samples. */
export interface ChooseFilesOptions {
  /**
   * Which files: those that a glob, or one of several, matches, or of whose path a function says so. `*`
   * and `?` stand for any characters but `/`, `**` for any directories, `[a-z]` for one character, `{a,b}`
   * for either. A glob without a slash is compared with names at any depth, and one that matches a
   * directory stands for all that is in it. Unless given, all.
   */
  readonly files?: string | readonly string[] | ((path: string) => boolean);
  /** These files and no others, in this order, repeats allowed. Not together with `files`. */
  readonly paths?: readonly string[];
}

/**
 * What says of the files of a walk, which it is given with their directories, whether they are chosen.
 *
 * @throws {RecordfsError} With code `bad-pattern` if a glob is none.
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
  // By a variable: Deno fetches a package whose name stands in an import before any program starts.
  const { default: { makeRe } } = await import(PACKAGES.picomatch);
  const compile = (glob: string) => compileGlob(glob, makeRe);
  const filter = new PathFilter(globs, [], compile);
  return (entry) => filter.accepts(entry);
}
