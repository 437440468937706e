import { localPath } from "../io/storage/local_path.ts";
import { MemoryStorage } from "../io/storage/memory_storage.ts";
import type { ContainerOptions } from "../tree/format.ts";

/**
 * What is opened: a path or `file:` URL; the bytes of a container that is one file; or those of its files,
 * by their names.
 */
export type ContainerLocation = string | URL | ContainerBytes;

/**
 * A container's bytes: those of its one file, or of its files by their names. Those of a `Blob` can only be
 * waited for.
 */
export type ContainerBytes =
  | Uint8Array
  | Blob
  | Readonly<Record<string, Uint8Array | Blob>>;

/** Where bytes in memory are said to lie. */
const MEMORY = "memory";

/** The path of a location, and the options of opening it, which say what storage the path is of. */
export function placeOf<O extends ContainerOptions>(
  location: ContainerLocation,
  options: O,
): { readonly path: string; readonly options: O } {
  if (typeof location === "string" || location instanceof URL) {
    const isLocal = options.storage === undefined || location instanceof URL;
    const path = isLocal ? localPath(location) : location;
    return { path, options };
  }
  const isFile = location instanceof Uint8Array || location instanceof Blob;
  const path = location instanceof File ? location.name : MEMORY;
  const files = isFile ? { [path]: location } : Object.fromEntries(
    Object.entries(location).map(([name, data]) => [`${path}/${name}`, data]),
  );
  return { path, options: { ...options, storage: new MemoryStorage(files) } };
}
