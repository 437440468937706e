import { RecordfsError } from "../../base/errors.ts";
import { isUrl } from "../remote/remote_location.ts";
import { RemoteStorage } from "../remote/remote_storage.ts";
import {
  baseOf,
  type LayeredStorage,
  type LayerHandle,
  reopenLayers,
} from "./layered_storage.ts";
import { LOCAL_DISK, type Storage } from "./storage.ts";

let servers: Storage | undefined;
/** Layers of this thread; those above others come later. */
const layers: LayeredStorage[] = [];

/** Sets this thread's storage for servers, which must answer without waiting. */
export function reachServersBy(storage: Storage): void {
  servers = storage;
}

/**
 * Makes this thread find files through layers that another thread has opened. `path` is one of the files below. Returns a
 * function that closes them.
 */
export async function reachLayers(
  handles: readonly LayerHandle[],
  path: string,
): Promise<() => void> {
  const own: LayeredStorage[] = [];
  await reopenLayers(handles, plainStorage(path), (layer) => {
    own.push(layer);
    layers.push(layer);
  });
  return () => {
    for (const layer of own) {
      layers.splice(layers.indexOf(layer), 1);
      layer.close();
    }
  };
}

export function storageInThread(path: string): Storage {
  return layers.findLast((layer) => layer.has(path)) ?? plainStorage(path);
}

function plainStorage(path: string): Storage {
  return isUrl(path) ? servers ?? LOCAL_DISK : LOCAL_DISK;
}

/** Whether other threads can reopen files of a storage, through {@linkcode storageInThread}. */
export function isReachedInThreads(storage: Storage): boolean {
  const base = baseOf(storage);
  return base === LOCAL_DISK || base instanceof RemoteStorage;
}

/** @throws {RecordfsError} If other threads cannot reopen files of the storage. */
export function requireReached(path: string, storage: Storage): void {
  if (isReachedInThreads(storage)) return;
  throw new RecordfsError(
    "unsupported",
    `Cannot serve ${path} by threads: its storage belongs to this thread. ` +
      "Serve containers on the local disk or on a server by threads",
    { path },
  );
}
