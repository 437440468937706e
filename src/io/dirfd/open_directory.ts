import type { Directory, OpenFile } from "./directory.ts";
import { openDescribed } from "./directory_by_descriptor.ts";
import { openDescribedFile } from "./file_by_descriptor.ts";
import { openNamed, openNamedFile } from "./directory_by_path.ts";
import { libcIfPermitted } from "../libc/libc.ts";

/**
 * Opens a directory, following symbolic links. If `isToList`, it is listed first and must be readable.
 *
 * If the C library may be called (`--allow-ffi`), entries are reached through the directory's descriptor: names may
 * have any bytes, paths any length, and entries stay in the opened directory whatever others rename. Otherwise they are
 * reached by path.
 */
export function openDirectory(path: string, isToList = false): Directory {
  return libcIfPermitted() === undefined
    ? openNamed(path)
    : openDescribed(path, isToList);
}

/** Opens a file for reading, following symbolic links, like {@linkcode Directory.openFile}. */
export function openFileByPath(path: string): OpenFile {
  return libcIfPermitted() === undefined
    ? openNamedFile(path)
    : openDescribedFile(path);
}
