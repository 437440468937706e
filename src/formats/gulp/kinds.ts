/** Kinds of GulpIO containers, and names of their files. */

/** Container kind of a directory of chunks. */
export const DIRECTORY = "directory of chunks";

/** Names of data files in a directory. */
export const DATA_NAME = /^data.*\.gulp$/s;
/** Names of meta files in a directory. */
export const META_NAME = /^meta.*\.gmeta$/s;

/** Whether a file of this name belongs to a chunk in a directory. */
export function isChunkName(name: string): boolean {
  return DATA_NAME.test(name) || META_NAME.test(name);
}
