import { perform, type Steps } from "../concurrency/steps.ts";
import { mustWait } from "../storage/must_wait.ts";
import type {
  FileFacts,
  OpenFileOptions,
  Storage,
} from "../storage/storage.ts";
import { shareBackoffTable } from "./retry/backoff_table.ts";
import { warnedCaches } from "./cache/warned_caches.ts";
import type { RemoteObserver } from "./client.ts";
import type { RemoteFiles } from "./remote_files.ts";
import {
  parseRemote,
  type RemoteLocation,
  rootOf,
  separateUrls,
} from "./remote_location.ts";
import type { RemoteOptions } from "./remote_options.ts";
import type { RemoteSource } from "./remote_source.ts";

/** Options that only this project's own programs use. */
export interface InternalOptions {
  /** Whether to open objects in their cached state, without asking a server. */
  readonly believesCache?: boolean;
  readonly observer?: RemoteObserver | undefined;
  /** Paths of caches that another thread has already warned about. */
  readonly warned?: readonly string[] | undefined;
  /** Back-off table of the thread that started this one. */
  readonly backoffs?: SharedArrayBuffer | undefined;
}

/** The files below a URL, or the single file that it is, or its siblings. */
export class RemoteStorage implements Storage {
  /** Path of the URL itself in this storage, without secrets. */
  readonly root: string;
  readonly url: string;
  readonly options: RemoteOptions;
  readonly believesCache: boolean;
  readonly observer: RemoteObserver | undefined;
  readonly #location: RemoteLocation;
  #files: Promise<RemoteFiles> | undefined;

  /** Parses a URL, without sending a request. Throws if it cannot be read (`unknown-scheme`, `bad-location`). */
  constructor(
    location: string | URL,
    options: RemoteOptions = {},
    { believesCache = false, observer, warned = [], backoffs }:
      InternalOptions = {},
  ) {
    const locations = parseRemote(location);
    this.#location = locations[0];
    this.url = String(location);
    this.options = options;
    this.believesCache = believesCache;
    this.observer = observer;
    this.root = locations.map(rootOf).join("::");
    for (const cache of warned) this.warned.add(cache);
    if (backoffs !== undefined) shareBackoffTable(backoffs);
  }

  /** Paths of caches that were warned about, so that other threads do not repeat the warning. */
  get warned(): Set<string> {
    return warnedCaches(this.options.onWarning);
  }

  open(path: string, options?: OpenFileOptions): Steps<RemoteSource> {
    const isOptional = options?.isOptional ?? false;
    return this.#wait(
      path,
      (files, signal) => files.open(path, signal, isOptional),
    );
  }

  list(path: string): Steps<readonly string[] | undefined> {
    return this.#wait(path, (files, signal) => files.list(path, signal));
  }

  *stat(path: string): Steps<FileFacts | undefined> {
    if (separateUrls(path).length > 1) return undefined; // several URLs, which is no name of a file
    const facts = yield* this.#wait(
      path,
      (files, signal) => files.look(path, signal),
    );
    if (facts.kind === "missing") return undefined;
    const isDirectory = facts.kind === "directory";
    const { size, mtime } = isDirectory ? { size: 0, mtime: 0 } : facts;
    return { isDirectory, size, mtime, id: idOf(path) };
  }

  /** Stops caching what is fetched from now on, because it will not be read again. */
  async keepNoMore(): Promise<void> {
    (await this.#load()).keepNoMore();
  }

  #wait<T>(
    path: string,
    ask: (files: RemoteFiles, signal: AbortSignal | undefined) => Promise<T>,
  ): Steps<T> {
    return perform({
      sync(): T {
        throw mustWait(path);
      },
      async: async (signal) => await ask(await this.#load(), signal),
    });
  }

  /** Loaded lazily, because most containers are local. */
  #load(): Promise<RemoteFiles> {
    return this.#files ??= import("./remote_files.ts").then(
      ({ RemoteFiles }) => RemoteFiles.of(this, this.#location),
    );
  }
}

/** Returns a number for a path, unique but for an unlikely collision. */
function idOf(path: string): number {
  const { createHash } = process.getBuiltinModule("node:crypto"); // not needed by all programs
  return createHash("sha256").update(path).digest().readUIntBE(0, 6);
}
