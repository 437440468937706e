import type { Thumbnail } from "../../codecs/image/thumbnail.ts";
import { LruCache } from "../../io/block_cache/lru_cache.ts";
import { NotTrustedError, unlessForeign } from "../../io/dirfd/trust.ts";
import type { TrustedDirectory } from "../../io/dirfd/trusted_directory.ts";
import {
  evictFiles,
  type FileInCache,
  filesIn,
  touchFile,
} from "../../io/index_cache/cached_files.ts";
import { cacheLocation } from "../../io/index_cache/cache_location.ts";
import { crc32Of } from "../../io/read/crc32_of.ts";
import type { CacheRoot } from "../../io/remote/cache/cache_root.ts";
import type { CacheOptions } from "../../io/remote/remote_options.ts";
import type { ByteSource } from "../../io/storage/byte_source.ts";

/** Bytes of thumbnails in memory, per serving thread. */
const MEMORY = 32 << 20;

/** Cache directory of all thumbnails. Files are in subdirectories by the first two digits of their names. */
const THUMBNAILS = "thumbnails";
/** Maximum bytes of a subdirectory, of which there are 256. */
const SHARD_BYTES = 1 << 20;
/** Bytes written to a subdirectory before it is listed for eviction. */
const UNLISTED_BYTES = SHARD_BYTES >> 3;
const NAME = /^[0-9a-f]{32}(\.[-0-9a-f]{36}\.tmp)?$/;

/** File header: this magic, then the CRC-32 of the rest, and the index of the type. */
const MAGIC = new TextEncoder().encode("recordfs thumb 1\n");
const HEAD = 24;
const TYPES: readonly Thumbnail["type"][] = ["image/jpeg", "image/webp"];
const MOST_BYTES = SHARD_BYTES >> 1;

/** Age in milliseconds at which the time of last use is updated. */
const TOUCH_AFTER = 3_600_000;

/** LRU cache of thumbnails: in memory, and on disk for other processes. */
export class ThumbnailStore {
  readonly #cache: CacheOptions | false | undefined;
  readonly #memory = new LruCache<Thumbnail, string>(MEMORY);
  /** Bytes written to each subdirectory since it was last listed. */
  readonly #unlisted = new Map<string, number>();

  /** @param cache Cache for local containers; remote ones have their own. */
  constructor(cache: CacheOptions | false | undefined) {
    this.#cache = cache;
  }

  /**
   * Returns a cached thumbnail.
   *
   * @param key Identifies content, source state and size.
   * @param source Source of the content; `undefined` if it is not on disk.
   */
  get(key: string, source: ByteSource | undefined): Thumbnail | undefined {
    const held = this.#memory.get(key);
    if (held !== undefined) return held;
    const place = this.#placeOf(key, source);
    const read = place && readFrom(place);
    if (read !== undefined) this.#hold(key, read);
    return read;
  }

  /** Caches a thumbnail; in memory only if the disk fails. */
  set(key: string, source: ByteSource | undefined, made: Thumbnail): void {
    this.#hold(key, made);
    const place = this.#placeOf(key, source);
    if (place === undefined || made.bytes.length > MOST_BYTES - HEAD) return;
    try {
      using directory = place.root.make([THUMBNAILS, place.shard]);
      const parts = [headOf(made), made.bytes];
      const temporary = `${place.name}.${crypto.randomUUID()}.tmp`;
      directory.replaceFile(place.name, temporary, parts);
      this.#evict(directory, place.shard, HEAD + made.bytes.length);
    } catch (error) {
      if (error instanceof NotTrustedError) place.root.warn(error);
    }
  }

  #hold(key: string, thumbnail: Thumbnail): void {
    this.#memory.set(key, thumbnail, key.length + thumbnail.bytes.length);
  }

  #placeOf(key: string, source: ByteSource | undefined): Place | undefined {
    if (source === undefined) return undefined;
    const remote = { cache: this.#cache };
    const place = cacheLocation(source, `thumbnail ${key}`, { remote });
    return place && placeIn(place.root, place.state);
  }

  #evict(directory: TrustedDirectory, shard: string, written: number): void {
    const unlisted = (this.#unlisted.get(shard) ?? UNLISTED_BYTES) + written;
    if (unlisted < UNLISTED_BYTES) {
      this.#unlisted.set(shard, unlisted);
      return;
    }
    this.#unlisted.set(shard, 0);
    const most = SHARD_BYTES - UNLISTED_BYTES;
    evictFiles(directory, filesIn(directory, NAME), most);
  }
}

export function countThumbnails(root: CacheRoot): StoredThumbnails {
  return sumOf(allFiles(root));
}

export function removeThumbnails(root: CacheRoot): StoredThumbnails {
  const files = Iterator.from(allFiles(root));
  const removed = sumOf(
    files.filter(({ directory, name }) => directory.remove(name)),
  );
  using above = root.open([THUMBNAILS]);
  for (const shard of above?.list() ?? []) above!.removeDirectory(shard);
  using cache = root.open();
  cache?.removeDirectory(THUMBNAILS);
  return removed;
}

function sumOf(files: Iterable<StoredFile>): StoredThumbnails {
  let [count, bytes, used] = [0, 0, 0];
  for (const file of files) {
    count++;
    bytes += file.size;
    used = Math.max(used, file.used);
  }
  return { count, bytes, used };
}

export interface StoredThumbnails {
  readonly count: number;
  readonly bytes: number;
  /** Time of the latest use, in milliseconds since 1970. */
  readonly used: number;
}

interface Place {
  readonly root: CacheRoot;
  readonly shard: string;
  readonly name: string;
}

interface StoredFile extends FileInCache {
  readonly directory: TrustedDirectory;
}

function placeIn(root: CacheRoot, state: string): Place {
  const name = state.slice(0, 32); // of a hash
  return { root, name, shard: name.slice(0, 2) };
}

function headOf({ type, bytes }: Thumbnail): Uint8Array {
  const head = new Uint8Array(HEAD);
  head.set(MAGIC);
  head[HEAD - 1] = TYPES.indexOf(type);
  new DataView(head.buffer).setUint32(HEAD - 5, crc32Of(bytes), true);
  return head;
}

function readFrom({ root, shard, name }: Place): Thumbnail | undefined {
  try {
    using directory = root.open([THUMBNAILS, shard]);
    using file = directory?.openFile(name, "read");
    if (file === undefined) return undefined;
    const { size, mtimeMs } = file.facts();
    if (size < HEAD || size > MOST_BYTES) return undefined;
    const all = new Uint8Array(size);
    if (file.read(all, 0) !== size) return undefined;
    const bytes = all.subarray(HEAD);
    const view = new DataView(all.buffer);
    const type = TYPES[all[HEAD - 1]!];
    const isSound = MAGIC.every((byte, i) => all[i] === byte) &&
      view.getUint32(HEAD - 5, true) === crc32Of(bytes);
    if (type === undefined || !isSound) return undefined;
    if (Date.now() - mtimeMs > TOUCH_AFTER) touchFile(directory!, name);
    return { type, bytes };
  } catch (error) {
    if (error instanceof NotTrustedError) root.warn(error);
    return undefined;
  }
}

function* allFiles(root: CacheRoot): Generator<StoredFile> {
  if (root.missing !== undefined) return;
  using above = root.open([THUMBNAILS]);
  for (const shard of above?.list() ?? []) {
    if (!/^[0-9a-f]{2}$/.test(shard)) continue;
    using directory = unlessForeign(() => above!.open(shard));
    if (directory === undefined) continue;
    for (const file of filesIn(directory, NAME)) yield { ...file, directory };
  }
}
