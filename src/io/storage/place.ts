import { isUrl } from "../remote/remote_location.ts";
import type { RemoteOptions } from "../remote/remote_options.ts";
import { RemoteStorage } from "../remote/remote_storage.ts";
import { absoluteLocalPath, localPath } from "./local_path.ts";
import type { Steps } from "../concurrency/steps.ts";
import type { ByteSource, OpenFileOptions } from "./byte_source.ts";
import { type FileFacts, LOCAL_DISK, type Storage } from "./storage.ts";

/** Where something is to be opened. */
export interface PlaceOptions {
  /** Where it lies. Defaults to the local disk, or the server that its URL names. */
  readonly storage?: Storage | undefined;
  /** How servers are reached, where it is a URL. */
  readonly remote?: RemoteOptions | undefined;
}

/** A path, and the storage that it is of. */
export interface Place {
  readonly path: string;
  readonly storage: Storage;
}

/**
 * Finds the storage of a location: the one that is given, the server of a URL, or the local disk.
 *
 * @throws {RecordfsError} If it is a URL that can't be read (`unknown-scheme`, `bad-location`).
 */
export function storedAt(
  location: string | URL,
  { storage = LOCAL_DISK, remote }: PlaceOptions,
): Place {
  if (storage !== LOCAL_DISK) return { path: String(location), storage };
  if (!isRemote(location)) return { path: localPath(location), storage };
  const server = new RemoteStorage(location, remote);
  return { path: server.root, storage: server };
}

/** The paths of several locations, and the storage that has them all. */
export function allStoredAt(
  locations: readonly (string | URL)[],
  options: PlaceOptions,
): { readonly paths: readonly string[]; readonly storage: Storage } {
  const places = locations.map((location) => storedAt(location, options));
  const paths = places.map(({ path }) => path);
  const [first] = places;
  const isOne = places.every(({ storage }) => storage === first!.storage);
  return { paths, storage: isOne ? first!.storage : new PlacesStorage(places) };
}

/** Files of several storages. */
class PlacesStorage implements Storage {
  readonly #storages: ReadonlyMap<string, Storage>;

  constructor(places: readonly Place[]) {
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

/** {@linkcode storedAt} that means the same when the working directory is another one. */
export function lastingAt(
  location: string | URL,
  options: PlaceOptions,
): Place {
  const place = storedAt(location, options);
  return place.storage === LOCAL_DISK
    ? { ...place, path: absoluteLocalPath(location) }
    : place;
}

/** Whether a location is one of a server. */
export function isRemote(location: string | URL): boolean {
  const isFile = location instanceof URL && location.protocol === "file:";
  return !isFile && isUrl(String(location));
}

/** The path of a file in a directory; those of URLs must not be made shorter. */
export function pathIn(directory: string, name: string): string {
  return isUrl(directory)
    ? `${directory.replace(/\/+$/, "")}/${name}`
    : process.getBuiltinModule("node:path").join(directory, name);
}
