import { perform, type Steps } from "../concurrency/steps.ts";
import { RemoteSource } from "../remote/remote_source.ts";
import type { ByteSource } from "../storage/byte_source.ts";
import { adjacentTables } from "./adjacent_index.ts";
import {
  type CacheLocation,
  cacheLocation,
  type IndexCacheOptions,
} from "./cache_location.ts";
import { cacheTables, readCachedTables } from "./cached_tables.ts";
import { IndexClaim } from "./index_claim.ts";
import { collectorOf } from "./index_collector.ts";
import { type KeptIndex, paysOff } from "./kept_index.ts";
import type { CachedTables } from "./tables_format.ts";

/** An index, and its tables if they were read from an index file. */
interface Found<Index> {
  readonly index: Index;
  readonly foreign?: CachedTables | undefined;
}

/** Returns where the index of a source is cached; `undefined` if it is made in no time, or cannot be cached. */
function placeOf<Index>(
  source: ByteSource,
  options: IndexCacheOptions,
  index: KeptIndex<Index>,
): CacheLocation | undefined {
  return paysOff(source, index)
    ? cacheLocation(source, index.kind, options)
    : undefined;
}

/** Returns the index of a source from the cache, or the index file next to it. */
export function* keptIndex<Index>(
  source: ByteSource,
  options: IndexCacheOptions,
  index: KeptIndex<Index>,
): Steps<Index | undefined> {
  const place = placeOf(source, options, index);
  const isAgain = collectorOf(source) !== undefined;
  return inCache(place, index, isAgain) ??
    (yield* nextTo(source, options, index, place))?.index;
}

/** Returns the index in the cache. @param isAgain Whether one from an index file must be made again. */
function inCache<Index>(
  place: CacheLocation | undefined,
  index: KeptIndex<Index>,
  isAgain: boolean,
): Index | undefined {
  const kept = place && readCachedTables(place);
  return kept === undefined || isAgain && kept.isForeign
    ? undefined
    : index.take(kept);
}

/** Returns the index in the file next to a source, and caches it. */
function* nextTo<Index>(
  source: ByteSource,
  options: IndexCacheOptions,
  index: KeptIndex<Index>,
  place: CacheLocation | undefined,
): Steps<Found<Index> | undefined> {
  if (collectorOf(source) !== undefined) return undefined;
  const found = yield* adjacentTables(source, options, index);
  if (found === undefined) return undefined;
  if (place !== undefined) cacheTables(place, found.tables);
  return { index: found.index, foreign: found.tables };
}

/** Caches an index that was made, if that pays off, and collects it where index files are written. */
export function cacheIndex<Index>(
  source: ByteSource,
  options: IndexCacheOptions,
  index: KeptIndex<Index>,
  made: Index,
): void {
  collectorOf(source)?.add(source, index, made);
  const place = placeOf(source, options, index);
  if (place === undefined || !paysOff(source, index, made)) return;
  const tables = index.tables(made);
  if (tables !== undefined) cacheTables(place, tables);
}

/**
 * Returns the index of a source: from the cache, or from the index file next to it, or makes it. Caches it if that pays
 * off.
 */
export function* cachedIndex<Index>(
  source: ByteSource,
  options: IndexCacheOptions,
  index: KeptIndex<Index>,
): Steps<Index> {
  const place = placeOf(source, options, index);
  const collector = collectorOf(source);
  const read = () => inCache(place, index, collector !== undefined);
  const note = (kept: Index) => {
    collector?.add(source, index, kept);
    return kept;
  };
  const before = read();
  if (before !== undefined) return note(before);
  using claim = place && index.isCacheable && source instanceof RemoteSource
    ? new IndexClaim(source, place)
    : undefined;
  if (claim !== undefined) {
    const others = yield* perform({
      sync: read, // without waiting, nothing can be fetched either
      async: (signal) => claim.take(read, signal),
    });
    if (others !== undefined) return note(others);
  }
  const adjacent = yield* nextTo(source, options, index, place);
  if (adjacent !== undefined) return adjacent.index;
  const made = yield* index.make();
  cacheIndex(source, options, index, made);
  return made;
}
