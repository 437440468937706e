import { isUrl } from "../remote/remote_location.ts";
import type { RemoteOptions } from "../remote/remote_options.ts";
import { RemoteStorage } from "../remote/remote_storage.ts";
import { chainedPath } from "./chained_path.ts";
import { absoluteLocalPath, localPath } from "./local_path.ts";
import type { Steps } from "../concurrency/steps.ts";
import type { ByteSource } from "./byte_source.ts";
import {
  type FileFacts,
  LOCAL_DISK,
  type OpenFileOptions,
  type Storage,
} from "./storage.ts";

/** Location to open. */
export interface LocationOptions {
  /** Storage of the location. Defaults to the local disk, or the server that its URL names. */
  readonly storage?: Storage | undefined;
  /** Options for servers, if the location is a URL. */
  readonly remote?: RemoteOptions | undefined;
}

/** A path and its storage. */
export interface StoredLocation {
  readonly path: string;
  readonly storage: Storage;
}

/**
 * Finds the storage of a location: the given one, the server of a URL, or the local disk. Throws if it is an unreadable
 * URL (`unknown-scheme`, `bad-location`).
 */
export function storedAt(
  location: string | URL,
  { storage = LOCAL_DISK, remote }: LocationOptions,
): StoredLocation {
  const place = plainLocation(location);
  if (storage !== LOCAL_DISK) return { path: String(place), storage };
  if (!isRemote(place)) return { path: localPath(place), storage };
  const server = new RemoteStorage(place, remote);
  return { path: server.root, storage: server };
}

/** Returns a location that is no chain of fsspec: what the chain leads to. */
function plainLocation(location: string | URL): string | URL {
  return typeof location === "string" ? chainedPath(location) : location;
}

/** Returns the paths of several locations, and one storage for all. */
export function allStoredAt(
  locations: readonly (string | URL)[],
  options: LocationOptions,
): { readonly paths: readonly string[]; readonly storage: Storage } {
  const places = locations.map((location) => storedAt(location, options));
  const paths = places.map(({ path }) => path);
  const [first] = places;
  const isOne = places.every(({ storage }) => storage === first!.storage);
  return { paths, storage: isOne ? first!.storage : new PlacesStorage(places) };
}

class PlacesStorage implements Storage {
  readonly #storages: ReadonlyMap<string, Storage>;

  constructor(places: readonly StoredLocation[]) {
    this.#storages = new Map(
      places.map(({ path, storage }) => [path, storage]),
    );
  }

  open(path: string, options?: OpenFileOptions): Steps<ByteSource> {
    return this.#of(path).open(path, options);
  }

  list(path: string): Steps<readonly string[] | undefined> {
    return this.#of(path).list(path);
  }

  stat(path: string): Steps<FileFacts | undefined> {
    return this.#of(path).stat(path);
  }

  #of(path: string): Storage {
    return this.#storages.get(path) ?? LOCAL_DISK;
  }
}

/** {@linkcode storedAt} that does not depend on the working directory. */
export function lastingAt(
  given: string | URL,
  options: LocationOptions,
): StoredLocation {
  const location = plainLocation(given);
  const place = storedAt(location, options);
  return place.storage === LOCAL_DISK
    ? { ...place, path: absoluteLocalPath(location) }
    : place;
}

export function isRemote(location: string | URL): boolean {
  const isFile = location instanceof URL && location.protocol === "file:";
  return !isFile && isUrl(String(location));
}

/** Joins a directory and a name. URLs must not be normalized. */
export function pathIn(directory: string, name: string): string {
  return isUrl(directory)
    ? `${directory.replace(/\/+$/, "")}/${name}`
    : process.getBuiltinModule("node:path").join(directory, name);
}
