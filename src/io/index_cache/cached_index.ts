import { perform, type Steps } from "../concurrency/steps.ts";
import { RemoteSource } from "../remote/remote_source.ts";
import type { ByteSource } from "../storage/byte_source.ts";
import { isMade } from "../storage/made_source.ts";
import { IndexClaim } from "./index_claim.ts";
import {
  type CacheLocation,
  cacheLocation,
  type IndexCacheOptions,
} from "./cache_location.ts";
import {
  type CachedTables,
  cacheTables,
  readCachedTables,
} from "./cached_tables.ts";

/** Entries from which on the index of a local source is cached. Smaller ones are made in no time. */
const MANY = 1 << 15;
/** Size in bytes from which on the index of a slow source is cached. For smaller ones, it takes a request or two. */
const LARGE = 8 << 20;

/** How the index of a source is made and cached. */
export interface CachedIndex<Index> {
  /** Kind and format version of the index. */
  readonly kind: string;
  /** Smallest size of an entry in the source, in bytes. */
  readonly entrySize: number;
  /** Returns the index of cached tables, or `undefined` if they are not of this source. Must trust nothing in them. */
  take(tables: CachedTables): Index | undefined;
  make(): Steps<Index>;
  count(index: Index): number;
  /** Whether the index may be cached. Other programs then wait for it. */
  readonly isCacheable: boolean;
  /** Returns the tables to cache; `undefined` if there are none. */
  tables(index: Index): CachedTables | undefined;
}

/** Whether making an index takes as long as reading all of a source: it is remote, or made of another one. */
function isSlow(source: ByteSource): boolean {
  return source.readAtSync === undefined || isMade(source);
}

/** Returns where the index of a source is cached; `undefined` if it is made in no time, or cannot be cached. */
function placeOf<Index>(
  source: ByteSource,
  options: IndexCacheOptions,
  { entrySize, kind }: CachedIndex<Index>,
): CacheLocation | undefined {
  const isSlowToRead = isSlow(source);
  return source.size < (isSlowToRead ? LARGE : MANY * entrySize)
    ? undefined
    : cacheLocation(source, kind, options);
}

/** Returns the index of a source from the cache, if it is there. */
export function indexInCache<Index>(
  source: ByteSource,
  options: IndexCacheOptions,
  index: CachedIndex<Index>,
): Index | undefined {
  const place = placeOf(source, options, index);
  const kept = place && readCachedTables(place);
  return kept && index.take(kept);
}

/** Caches an index that was made, if that pays off. */
export function cacheIndex<Index>(
  source: ByteSource,
  options: IndexCacheOptions,
  index: CachedIndex<Index>,
  made: Index,
): void {
  const place = placeOf(source, options, index);
  const isSlowToRead = isSlow(source);
  if (place === undefined || !isSlowToRead && index.count(made) < MANY) return;
  const tables = index.tables(made);
  if (tables !== undefined) cacheTables(place, tables);
}

/** Returns the index of a source from the cache, or makes it and caches it if that pays off. */
export function* cachedIndex<Index>(
  source: ByteSource,
  options: IndexCacheOptions,
  index: CachedIndex<Index>,
): Steps<Index> {
  const place = placeOf(source, options, index);
  const read = () => {
    const kept = place && readCachedTables(place);
    return kept && index.take(kept);
  };
  const before = read();
  if (before !== undefined) return before;
  using claim = place && index.isCacheable && source instanceof RemoteSource
    ? new IndexClaim(source, place)
    : undefined;
  if (claim !== undefined) {
    const others = yield* perform({
      sync: read, // without waiting, nothing can be fetched either
      async: (signal) => claim.take(read, signal),
    });
    if (others !== undefined) return others;
  }
  const made = yield* index.make();
  cacheIndex(source, options, index, made);
  return made;
}
