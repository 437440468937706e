import { RecordfsError } from "../../base/errors.ts";
import { isUrl } from "../remote/remote_location.ts";
import { RemoteStorage } from "../remote/remote_storage.ts";
import { LOCAL_DISK, type Storage } from "./storage.ts";

let servers: Storage | undefined;

/** Sets this thread's storage for servers, which must answer without waiting. */
export function reachServersBy(storage: Storage): void {
  servers = storage;
}

export function storageInThread(path: string): Storage {
  return isUrl(path) ? servers ?? LOCAL_DISK : LOCAL_DISK;
}

/** Whether other threads can reopen files of a storage, through {@linkcode storageInThread}. */
export function isReachedInThreads(storage: Storage): boolean {
  return storage === LOCAL_DISK || storage instanceof RemoteStorage;
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
