import { INSIDE } from "../io/storage/chained_path.ts";
import { LOCAL_DISK } from "../io/storage/storage.ts";
import { notedStorage } from "../tree/trees/layered_tree.ts";
import { VirtualFs } from "../tree/vfs/virtual_fs.ts";
import { TreeStorage } from "./tree_storage.ts";
import { MemoryStorage } from "../io/storage/memory_storage.ts";
import { storedAt } from "../io/storage/stored_location.ts";
import type { ContainerOptions } from "../tree/format.ts";

/**
 * A path or URL, the bytes of a container that is one file, or the bytes of its files by name; or a file of an opened
 * container. A path may lead into containers: `outer.zip!/inner.tar`. A `Blob` can only be read asynchronously.
 */
export type ContainerLocation =
  | string
  | URL
  | Uint8Array
  | Blob
  | { readonly container: VirtualFs; readonly path: string }
  | Readonly<Record<string, Uint8Array | Blob>>;

/**
 * Several containers, each optionally with its own path and options.
 *
 * @typeParam L Location of each container with its own path or options.
 */
export type SeveralLocations<L = ContainerLocation> = readonly (string | URL | {
  /** A file or directory, or bytes. */
  readonly location: L;
  /**
   * Directory that it appears in: names and slashes; parents are created. Defaults to the last name of the location, of
   * a file without its suffix; to the root for a container opened alone.
   */
  readonly path?: string | undefined;
  /** Options of this container, in place of those for all. */
  readonly options?: ContainerOptions | undefined;
})[];

/** Whether the location is a list of containers. */
export function areSeveral(
  location: ContainerLocation | SeveralLocations,
): location is SeveralLocations {
  return Array.isArray(location);
}

const MEMORY = "memory";

/** Returns the path of a location, and options with the storage that the path belongs to. */
export function placeOf<O extends ContainerOptions>(
  location: ContainerLocation,
  options: O,
): { readonly path: string; readonly options: O } {
  if (typeof location === "string" || location instanceof URL) {
    const { path, storage } = storedAt(location, options);
    return { path, options: { ...options, storage } };
  }
  if (isContained(location)) {
    const { container: { location: outer, tree }, path: name } = location;
    const base = notedStorage(tree) ?? LOCAL_DISK;
    const storage = new TreeStorage(base, outer, tree, {}, false);
    return {
      path: `${outer}${INSIDE}${name}`,
      options: { ...options, storage },
    };
  }
  const isFile = location instanceof Uint8Array || location instanceof Blob;
  const path = location instanceof File ? location.name : MEMORY;
  const files = isFile ? { [path]: location } : Object.fromEntries(
    Object.entries(location).map(([name, data]) => [`${path}/${name}`, data]),
  );
  return { path, options: { ...options, storage: new MemoryStorage(files) } };
}

/** Whether a location is a file of an opened container, as {@linkcode VirtualFs.file} returns it. */
function isContained(
  location: Exclude<ContainerLocation, string | URL>,
): location is Extract<ContainerLocation, { readonly container: VirtualFs }> {
  return "container" in location && location.container instanceof VirtualFs;
}
