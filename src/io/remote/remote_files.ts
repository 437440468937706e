import { RecordfsError } from "../../base/errors.ts";
import { warnOnConsole } from "../../base/message_text.ts";
import { NO_CACHE, optionText } from "../../base/named_option.ts";
import { noSuchFile } from "../storage/storage.ts";
import { BlockFetcher } from "./block_fetcher.ts";
import { type BlockStore, CACHE_BLOCK, NO_STORE } from "./cache/block_store.ts";
import { CacheDirectory } from "./cache/cache_directory.ts";
import { DiskStore } from "./cache/disk_store.ts";
import { Client, type RequestLimits } from "./client.ts";
import { HttpRemoteServer } from "./http/http_remote_server.ts";
import type { ListedFile } from "./listed_file.ts";
import { RemoteError } from "./remote_error.ts";
import { type RemoteLocation, rootOf } from "./remote_location.ts";
import { isUntagged, type ObjectState, openObject } from "./remote_object.ts";
import type { S3Options } from "./remote_options.ts";
import type { RemoteServer } from "./remote_server.ts";
import { RemoteSource } from "./remote_source.ts";
import type { RemoteStorage } from "./remote_storage.ts";
import { BucketServer } from "./s3/bucket_server.ts";
import { withProfile } from "./s3/profile.ts";
import type { Target } from "./target.ts";
import { fetchWhole, hasAll } from "./whole_object.ts";

/** Bytes that an object's first request asks for; they contain most headers. */
const HEAD = 1 << 18;
/** Lifetime of cached answers in milliseconds, because opening a container looks up its files several times. */
const BELIEVED = 10_000;
/** Timeout of an object's first request, in milliseconds, so that a wrong name does not take minutes. */
const OPENING = 20_000;

export type Facts =
  | { readonly kind: "missing" }
  | { readonly kind: "directory" }
  | { readonly kind: "file"; readonly size: number; readonly mtime: number };

interface Found {
  readonly kind: "file";
  readonly target: Target;
  readonly state: ObjectState;
  readonly hasRanges: boolean;
  /** Its first bytes; empty if they are cached. */
  readonly head: Uint8Array<ArrayBuffer>;
  /** Cost of finding it, until it is added to the object's counts. */
  readonly took: Took;
  /** Time of the request in milliseconds; 0 if there was none. */
  readonly ms: number;
}

interface Took {
  requests: number;
  retries: number;
  bytes: number;
}

interface Opened {
  readonly fetcher: Promise<BlockFetcher>;
  users: number;
}

type NoFile = { readonly kind: "missing" | "directory" };

const MISSING = { kind: "missing" } as const;
const DIRECTORY = { kind: "directory" } as const;

/** The files of a server. Each is looked up once while a container is opened. */
export class RemoteFiles {
  readonly #root: string;
  readonly #storage: Pick<RemoteStorage, "url" | "options">;
  readonly #believesCache: boolean;
  readonly #isDirectory: boolean;
  readonly #client: Client;
  readonly #server: RemoteServer;
  readonly #warn: (message: string) => void;
  readonly #cache: CacheDirectory | undefined;
  readonly #found = new Remembered<Found | NoFile>();
  readonly #lists = new Remembered<
    ReadonlyMap<string, ListedFile> | undefined
  >();
  /** By path and tag; without a tag by what was found, because such answers cannot be compared. */
  readonly #open = new Map<string | Found, Opened>();
  #keepsNoMore = false;

  /** Creates the files of a storage. The configuration files of AWS tools may say where a bucket is. */
  static async of(
    storage: RemoteStorage,
    location: RemoteLocation,
  ): Promise<RemoteFiles> {
    if (location.kind !== "s3") return new RemoteFiles(storage, location, {});
    const s3 = await withProfile(storage.options.s3 ?? {});
    return new RemoteFiles(storage, location, s3);
  }

  private constructor(
    { url, options, believesCache, observer }: RemoteStorage,
    location: RemoteLocation,
    s3: S3Options,
  ) {
    const root = this.#root = rootOf(location);
    this.#storage = { url, options };
    this.#believesCache = believesCache;
    this.#isDirectory = location.kind === "s3"
      ? location.key === "" || location.key.endsWith("/")
      : location.url.pathname.endsWith("/");
    this.#client = new Client(options, observer);
    this.#warn = options.onWarning ?? warnOnConsole;
    this.#server = location.kind === "s3"
      ? new BucketServer(location, this.#client, s3, this.#warn)
      : new HttpRemoteServer(root, location, this.#client, options.headers);
    const { cache = {} } = options;
    this.#cache = cache === false
      ? undefined
      : new CacheDirectory(cache, this.#warn);
  }

  /** Stops caching what is fetched from now on, because it will not be read again. */
  keepNoMore(): void {
    this.#keepsNoMore = true;
    for (const { fetcher } of this.#open.values()) {
      fetcher.then((one) => one.keepNoMore(), () => {}); // opening it reports the error
    }
  }

  async open(
    path: string,
    signal: AbortSignal | undefined,
    isOptional = false,
  ): Promise<RemoteSource> {
    if (isOptional && await this.#listed(path) === null) throw noSuchFile(path);
    const found = await this.#find(path, signal);
    if (found.kind !== "file") {
      if (isOptional) throw noSuchFile(path);
      const { kind } = await this.look(path, signal);
      if (kind === "missing") throw noSuchFile(path);
      throw new RecordfsError(
        "not-a-file",
        `Cannot open ${path}: it is a directory`,
        { path },
      );
    }
    const { tag } = found.state;
    const key = isUntagged(tag) ? found : `${path}\n${tag}`;
    const opened = this.#open.get(key) ?? this.#openAnew(key, path, found);
    opened.users++;
    const release = () => {
      if (--opened.users > 0) return;
      if (this.#open.get(key) === opened) this.#open.delete(key);
      opened.fetcher.then((fetcher) => fetcher.close(), () => {});
    };
    try {
      const fetcher = await opened.fetcher;
      signal?.throwIfAborted();
      const { target: { name }, state, ms } = found;
      const origin = { ...this.#storage, path };
      const fetchTime = Math.ceil(state.size / HEAD) * ms;
      const facts = { name, origin, fetcher, fetchTime };
      return new RemoteSource(facts, state, release);
    } catch (error) {
      release();
      throw error;
    }
  }

  async list(
    path: string,
    signal: AbortSignal | undefined,
  ): Promise<readonly string[] | undefined> {
    const { kind } = await this.look(path, signal);
    if (kind === "file") return undefined;
    const list = kind === "directory"
      ? await this.#list(path, signal)
      : undefined;
    if (list === undefined) throw noSuchFile(path);
    return [...list.keys()];
  }

  async look(path: string, signal: AbortSignal | undefined): Promise<Facts> {
    if (path === this.#root && this.#isDirectory) return DIRECTORY;
    const entry = await this.#listed(path);
    if (entry === null) return MISSING;
    if (entry !== undefined) {
      if (entry.isDirectory) return DIRECTORY;
      const { size, mtime } = entry;
      if (size !== undefined && mtime !== undefined) {
        return { kind: "file", size, mtime };
      }
    }
    const found = await this.#find(path, signal);
    if (found.kind === "file") {
      const { size, mtime } = found.state;
      return { kind: "file", size, mtime };
    }
    if (found.kind === "directory" || !this.#server.hidesDirectories) {
      return found;
    }
    return await this.#list(path, signal) === undefined ? MISSING : DIRECTORY;
  }

  /** Returns the entry of a path in the listing of its directory: `null` if it has none, `undefined` without a listing. */
  async #listed(path: string): Promise<ListedFile | null | undefined> {
    const slash = path.lastIndexOf("/");
    const list = await this.#lists.get(path.slice(0, slash));
    return list && (list.get(path.slice(slash + 1)) ?? null);
  }

  #list(
    path: string,
    signal: AbortSignal | undefined,
  ): Promise<ReadonlyMap<string, ListedFile> | undefined> {
    return this.#lists.ask(path, async () => {
      const { identity } = this.#server.target(path);
      let list = this.#believesCache
        ? this.#cache?.lastList(identity)
        : undefined;
      if (list === undefined) {
        list = await this.#server.list(path, this.#patience(signal));
        if (list !== undefined) this.#cache?.keepList(identity, list);
      }
      return list && new Map(list.map((entry) => [entry.name, entry]));
    });
  }

  #find(
    path: string,
    signal: AbortSignal | undefined,
  ): Promise<Found | NoFile> {
    return this.#found.ask(path, async () => {
      const target = this.#server.target(path);
      const known = this.#cache?.lastState(target.identity);
      if (this.#believesCache) {
        if (known !== undefined) return asKnown(target, known, nothing(), 0);
        if (this.#cache?.lastList(target.identity)) return DIRECTORY;
      }
      const took = nothing();
      const counter = {
        asked: () => void took.requests++,
        retried: () => void took.retries++,
      };
      const begun = performance.now();
      const answer = await openObject(
        this.#client,
        target,
        HEAD,
        known?.tag,
        { ...this.#patience(signal), counter },
      );
      if (answer.kind === "missing" || answer.kind === "directory") {
        return answer;
      }
      const ms = performance.now() - begun;
      if (answer.kind === "same") return asKnown(target, known!, took, ms);
      took.bytes = answer.head.length;
      this.#client.observer.fetched(target.name, 0, took.bytes, ms);
      return { ...answer, kind: "file", target, took, ms };
    });
  }

  #openAnew(key: string | Found, path: string, found: Found): Opened {
    const opened = { fetcher: this.#fetcher(path, found), users: 0 };
    opened.fetcher.catch(() => this.#open.delete(key));
    this.#open.set(key, opened);
    return opened;
  }

  async #fetcher(path: string, found: Found): Promise<BlockFetcher> {
    const { target, state, hasRanges, head, took } = found;
    if (isUntagged(state.tag)) this.#client.warnOfUntagged(target);
    const store = this.#store(target, state);
    store.counts?.take(took);
    try {
      const isWhole = head.length % CACHE_BLOCK === 0 ||
        head.length === state.size;
      const isNew = head.length > 0 && isWhole && !store.has(0);
      const kept = isNew ? store.keep(0, head) : head.length;
      if (!hasRanges) await this.#fetchWhole(path, found, store);
      // What is cached for this program alone, others cannot fetch.
      const claims = store === NO_STORE || !state.isLasting
        ? undefined
        : this.#cache?.claims(target.identity, state.tag);
      const fetcher = new BlockFetcher(
        this.#client,
        target,
        state,
        store,
        claims,
        () => this.#fetchWhole(path, found, store),
      );
      if (kept < head.length) fetcher.hold(0, head);
      if (this.#keepsNoMore) fetcher.keepNoMore();
      return fetcher;
    } catch (error) {
      store.close();
      throw error;
    }
  }

  #store({ identity, name }: Target, state: ObjectState): BlockStore {
    const facts = { url: name, ...state };
    const object = this.#cache?.open(identity, facts);
    if (object === undefined) return NO_STORE;
    try {
      return new DiskStore(object);
    } catch (error) {
      object.failed(error);
      object.close();
      return NO_STORE;
    }
  }

  async #fetchWhole(
    path: string,
    { target, state }: Found,
    store: BlockStore,
  ): Promise<void> {
    if (!(store instanceof DiskStore)) {
      throw new RemoteError(
        "no-ranges",
        `Cannot read ${path}: its server does not support range requests, so the whole file must be cached. ` +
          `Remove ${optionText(NO_CACHE)}, or use a server with range requests`,
        { path, namedOptions: [NO_CACHE] },
      );
    }
    if (hasAll(store, state.size)) return;
    this.#warn(
      `${path}: the server does not support range requests, so the whole file is downloaded first`,
    );
    const { counts: counter } = store;
    const signal = undefined;
    await fetchWhole(this.#client, target, state, store, { signal, counter });
    counter.fetched(state.size);
  }

  #patience(signal: AbortSignal | undefined): RequestLimits {
    return { signal, timeout: Math.min(OPENING, this.#client.timeout) };
  }
}

function asKnown(
  target: Target,
  state: ObjectState,
  took: Took,
  ms: number,
): Found {
  const head = NOTHING;
  return { kind: "file", target, state, hasRanges: true, head, took, ms };
}

function nothing(): Took {
  return { requests: 0, retries: 0, bytes: 0 };
}

/** Cache of answers with a lifetime. */
class Remembered<T> {
  readonly #answers = new Map<string, { answer: Promise<T>; time: number }>();

  get(key: string): Promise<T> | undefined {
    const known = this.#answers.get(key);
    return known !== undefined && performance.now() - known.time < BELIEVED
      ? known.answer
      : undefined;
  }

  ask(key: string, ask: () => Promise<T>): Promise<T> {
    const known = this.get(key);
    if (known !== undefined) return known;
    const one = { answer: ask(), time: performance.now() };
    this.#answers.set(key, one);
    one.answer.catch(() => {
      if (this.#answers.get(key) === one) this.#answers.delete(key);
    });
    return one.answer;
  }
}

const NOTHING = new Uint8Array();
