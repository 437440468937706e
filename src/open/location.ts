import { MemoryStorage } from "../io/storage/memory_storage.ts";
import { storedAt } from "../io/storage/place.ts";
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

/** Several containers, each with a path and options of its own or without. */
export type SeveralLocations = readonly (string | URL | ContainerPlace)[];

/** A container to be opened with others, and where it is to show among them. */
export interface ContainerPlace {
  /** A file or directory, or bytes. */
  readonly location: ContainerLocation;
  /**
   * The directory that it shows in: names and slashes; those above it are made. Defaults to the last name of the
   * location, a file's without its suffix. A container that is opened alone, without a path, is the root.
   */
  readonly path?: string | undefined;
  /** Its own options, in place of those for all. */
  readonly options?: ContainerOptions | undefined;
}

/** Whether several containers are given, and not one. */
export function areSeveral(
  location: ContainerLocation | SeveralLocations,
): location is SeveralLocations {
  return Array.isArray(location);
}

/** Where bytes in memory are said to lie. */
const MEMORY = "memory";

/** The path of a location, and the options of opening it, which say what storage the path is of. */
export function placeOf<O extends ContainerOptions>(
  location: ContainerLocation,
  options: O,
): { readonly path: string; readonly options: O } {
  if (typeof location === "string" || location instanceof URL) {
    const { path, storage } = storedAt(location, options);
    return { path, options: { ...options, storage } };
  }
  const isFile = location instanceof Uint8Array || location instanceof Blob;
  const path = location instanceof File ? location.name : MEMORY;
  const files = isFile ? { [path]: location } : Object.fromEntries(
    Object.entries(location).map(([name, data]) => [`${path}/${name}`, data]),
  );
  return { path, options: { ...options, storage: new MemoryStorage(files) } };
}
