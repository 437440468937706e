import { FormatError } from "../base/errors.ts";
import type { Steps } from "../io/concurrency/steps.ts";
import { isUrl } from "../io/remote/remote_location.ts";
import { RemoteStorage } from "../io/remote/remote_storage.ts";
import { INSIDE } from "../io/storage/chained_path.ts";
import { depthOf } from "../io/storage/layered_storage.ts";
import { LOCAL_DISK, type Storage } from "../io/storage/storage.ts";
import type { Container, ContainerOptions } from "../tree/format.ts";
import { isNothing, MOST_LAYERS, type StoredOptions } from "./compressed.ts";
import { TreeStorage } from "./tree_storage.ts";

/**
 * Returns options whose storage has a path that leads into containers, such as `outer.zip!/inner.tar`. A path is taken as
 * it stands, if there is something; otherwise it is divided at the first `!/` before which there is.
 *
 * @param open Opens an outer container.
 * @throws {FormatError} If an outer container cannot be opened, or too many are in each other (`unsupported`).
 */
export function* reaching(
  path: string,
  options: ContainerOptions,
  open: (path: string, options: ContainerOptions) => Steps<Container>,
): Steps<StoredOptions> {
  const { storage = LOCAL_DISK } = options;
  const stored = { ...options, storage };
  const isPlain = !path.includes(INSIDE) || !(yield* isNothing(path, storage));
  if (isPlain) return stored;
  let at = path.indexOf(INSIDE);
  for (; at >= 0; at = path.indexOf(INSIDE, at + 1)) {
    const outer = path.slice(0, at);
    if (storage instanceof TreeStorage && !storage.has(outer)) continue;
    const base = storageOf(outer, at, path, storage);
    if (yield* isNothing(outer, base)) continue;
    if (depthOf(storage) >= MOST_LAYERS) throw tooDeep(path);
    const { remote, maxRatio, onWarning } = options;
    const own = { remote, maxRatio };
    const { tree } = yield* open(outer, { ...own, onWarning, storage: base });
    const layer = new TreeStorage(base, outer, tree, own);
    try {
      return yield* reaching(path, { ...stored, storage: layer }, open);
    } catch (error) {
      layer.close();
      throw error;
    }
  }
  return stored;
}

/** Returns the path of what must exist for a path to be opened: of the outermost container that it leads into, or itself. */
export function* outermost(
  path: string,
  storage: Storage,
): Steps<{ readonly path: string; readonly storage: Storage }> {
  const isPlain = !path.includes(INSIDE) || !(yield* isNothing(path, storage));
  if (isPlain) return { path, storage };
  let at = path.indexOf(INSIDE);
  for (; at >= 0; at = path.indexOf(INSIDE, at + 1)) {
    const outer = path.slice(0, at);
    const base = storageOf(outer, at, path, storage);
    if (yield* isNothing(outer, base)) continue;
    return { path: outer, storage: base };
  }
  return { path, storage };
}

/** Returns the storage of a container that lies on a server; a storage of a URL has only what is next to it. */
function storageOf(
  outer: string,
  at: number,
  path: string,
  storage: Storage,
): Storage {
  if (!(storage instanceof RemoteStorage) || !isUrl(outer)) return storage;
  const { url, options, believesCache, observer } = storage;
  const behind = path.slice(at).split(INSIDE).length - 1;
  const parts = url.split(INSIDE);
  const outerUrl = parts.slice(0, parts.length - behind).join(INSIDE);
  return new RemoteStorage(outerUrl, options, { believesCache, observer });
}

/** Makes the error of more containers and compressed files in each other than are read. */
export function tooDeep(path: string): FormatError {
  return new FormatError(
    "unsupported",
    `Cannot open ${path}: more than ${MOST_LAYERS} containers and compressed files are in each other. ` +
      "Extract an outer one",
    { path, expected: MOST_LAYERS },
  );
}
