/** Kinds of GulpIO containers, names of their files, and what a kind may lack. */
import { FormatError } from "../../base/errors.ts";

/** What a directory of chunks is, among the kinds of containers. */
export const DIRECTORY = "directory of chunks";

/** Names of data files in a directory. */
export const DATA_NAME = /^data.*\.gulp$/s;
/** Names of their meta files. */
export const META_NAME = /^meta.*\.gmeta$/s;

/** Whether a file of this name belongs to a chunk in a directory. */
export function isChunkName(name: string): boolean {
  return DATA_NAME.test(name) || META_NAME.test(name);
}

/**
 * The error about videos whose numbers nobody knows, since chunks among theirs are left out.
 *
 * @param path A file of their directory.
 */
export function unnumbered(path: string): FormatError {
  const directory = process.getBuiltinModule("node:path").dirname(path);
  return new FormatError(
    "missing-data",
    `${directory} has chunks that cannot be opened, so that the numbers of its videos are not known: ` +
      "`check()` says what is wrong; bring those chunks back, or take their files away",
    { path: directory },
  );
}
