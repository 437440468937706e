import { perform, type Steps } from "../concurrency/steps.ts";
import { RemoteSource } from "../remote/remote_source.ts";
import type { ByteSource } from "../storage/byte_source.ts";
import { IndexClaim } from "./index_claim.ts";
import { type KeptOptions, keptPlace } from "./kept_place.ts";
import { keepTables, type KeptTables, readKeptTables } from "./kept_tables.ts";

/** Entries from which on the index of a local source is kept: of fewer, it is made in no time. */
const MANY = 1 << 15;
/** Bytes from which on that of one is which has to be fetched: of fewer, it is a request or two. */
const LARGE = 8 << 20;

/** An index that is made of a source, and may be kept. */
export interface KeptIndex<Index> {
  /** What is kept, and in which form: another form is another kind. */
  readonly kind: string;
  /** Bytes of the source that an entry takes at least. */
  readonly entrySize: number;
  /** Takes tables that were kept, unless they are none of this source: nothing of them is believed. */
  take(tables: KeptTables): Index | undefined;
  /** Makes it anew. */
  make(): Steps<Index>;
  /** How many entries it has. */
  count(index: Index): number;
  /** Whether what is made may be kept: then other programs wait for it. */
  readonly isToKeep: boolean;
  /** What of it is kept; `undefined` where nothing is to be. */
  tables(index: Index): KeptTables | undefined;
}

/** The index of a source: as it was kept, or else made anew, and kept where that is worth it. */
export function* keptIndex<Index>(
  source: ByteSource,
  options: KeptOptions,
  index: KeptIndex<Index>,
): Steps<Index> {
  const isFar = source.readAtSync === undefined;
  const place = source.size < (isFar ? LARGE : MANY * index.entrySize)
    ? undefined
    : keptPlace(source, index.kind, options);
  const read = () => {
    const kept = place && readKeptTables(place);
    return kept && index.take(kept);
  };
  const before = read();
  if (before !== undefined) return before;
  using claim = place && index.isToKeep && source instanceof RemoteSource
    ? new IndexClaim(source, place)
    : undefined;
  if (claim !== undefined) {
    const others = yield* perform({
      sync: read, // what cannot wait cannot fetch either
      async: (signal) => claim.take(read, signal),
    });
    if (others !== undefined) return others;
  }
  const made = yield* index.make();
  if (place === undefined || !isFar && index.count(made) < MANY) return made;
  const tables = index.tables(made);
  if (tables !== undefined) keepTables(place, tables);
  return made;
}
