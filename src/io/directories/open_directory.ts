import type { Directory, OpenFile } from "./directory.ts";
import { openDescribed } from "./directory_by_descriptor.ts";
import { openDescribedFile } from "./file_by_descriptor.ts";
import { openNamed, openNamedFile } from "./directory_by_path.ts";
import { libcIfPermitted } from "../libc/libc.ts";

/**
 * Opens a directory, through symbolic links if need be.
 *
 * Where the C library may be called (`--allow-ffi`), entries are reached through the directory's
 * descriptor: names may have any bytes, paths may have any length, and whatever others rename
 * meanwhile, an entry is in the directory that was opened. Elsewhere they are reached by path.
 *
 * @param isToList Whether it is listed first of all; it must be readable then.
 */
export function openDirectory(path: string, isToList = false): Directory {
  return libcIfPermitted() === undefined
    ? openNamed(path)
    : openDescribed(path, isToList);
}

/** Opens a file for reading, through symbolic links if need be, as {@linkcode Directory.openFile} does. */
export function openFileByPath(path: string): OpenFile {
  return libcIfPermitted() === undefined
    ? openNamedFile(path)
    : openDescribedFile(path);
}
