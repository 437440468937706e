import { perform, type Steps } from "../concurrency/steps.ts";
import { mustWait } from "../storage/must_wait.ts";
import type { FileFacts, Storage } from "../storage/storage.ts";
import { shareBackoffTable } from "./backoff_table.ts";
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

/** Options that only this project's own programs give. */
export interface InternalOptions {
  /** Whether objects are taken for what the cache has of them, so that no server need be there to open them. */
  readonly believesCache?: boolean;
  /** Told of requests. */
  readonly observer?: RemoteObserver | undefined;
  /** Paths of caches that another thread has warned of. */
  readonly warned?: readonly string[] | undefined;
  /** What the thread that started this one knows of stores that fail. */
  readonly backoffs?: SharedArrayBuffer | undefined;
}

/** The files below a URL, or the one file that it is, or those beside it. */
export class RemoteStorage implements Storage {
  /** The path that the URL itself has here: without what may be secret. */
  readonly root: string;
  /** The URL, as it was given. */
  readonly url: string;
  readonly options: RemoteOptions;
  readonly believesCache: boolean;
  readonly observer: RemoteObserver | undefined;
  readonly #location: RemoteLocation;
  #files: Promise<RemoteFiles> | undefined;

  /**
   * Takes a URL; nothing is asked for yet.
   *
   * @throws {RecordfsError} If it is none that can be read (`unknown-scheme`, `bad-location`).
   */
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

  /** Paths of the caches that were warned of, which another thread need not say again. */
  get warned(): Set<string> {
    return warnedCaches(this.options.onWarning);
  }

  open(path: string): Steps<RemoteSource> {
    return this.#wait(path, (files, signal) => files.open(path, signal));
  }

  list(path: string): Steps<readonly string[] | undefined> {
    return this.#wait(path, (files, signal) => files.list(path, signal));
  }

  *stat(path: string): Steps<FileFacts | undefined> {
    if (separateUrls(path).length > 1) return undefined; // nothing is called so
    const facts = yield* this.#wait(
      path,
      (files, signal) => files.look(path, signal),
    );
    if (facts.kind === "missing") return undefined;
    const isDirectory = facts.kind === "directory";
    const { size, mtime } = isDirectory ? { size: 0, mtime: 0 } : facts;
    return { isDirectory, size, mtime, id: idOf(path) };
  }

  /** What is fetched from now on is not kept in the cache: it will not be read again. */
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

  /** Loaded when it is needed: most containers are local. */
  #load(): Promise<RemoteFiles> {
    return this.#files ??= import("./remote_files.ts").then(
      ({ RemoteFiles }) => RemoteFiles.of(this, this.#location),
    );
  }
}

/** A number of a path that others do not have, but by an unlikely chance. */
function idOf(path: string): number {
  const { createHash } = process.getBuiltinModule("node:crypto"); // which not all need
  return createHash("sha256").update(path).digest().readUIntBE(0, 6);
}
