import type { FormatError } from "../../../base/errors.ts";
import type { Steps } from "../../../io/concurrency/steps.ts";
import { cachedIndex } from "../../../io/index_cache/cached_index.ts";
import type { IndexCacheOptions } from "../../../io/index_cache/cache_location.ts";
import {
  changedFile,
  type KnownFile,
} from "../../../io/storage/changed_file.ts";
import type { ByteSource } from "../../../io/storage/byte_source.ts";
import type { Storage } from "../../../io/storage/storage.ts";
import {
  columnsToKeep,
  keptColumns,
} from "../../../tree/archive/archive_columns.ts";
import { Size } from "../layout.ts";
import { Fault } from "./faults.ts";
import {
  IndexBuilder,
  type LmdbColumns,
  type LmdbIndex,
} from "./index_builder.ts";
import { type Meta, readMeta, requireCurrent } from "./meta.ts";
import { Walk } from "./walk.ts";

/** A database file with its tables, for other threads. */
export interface LmdbFile extends KnownFile {
  readonly columns: LmdbColumns;
  /** Offset of the meta page that describes this state, and its bytes. */
  readonly meta: Pick<Meta, "bytes" | "offset">;
}

export interface OpenedIndex {
  readonly file: LmdbFile;
  readonly index: LmdbIndex;
}

interface KeptFacts extends Omit<LmdbIndex, "columns" | "damage"> {
  readonly meta: string;
}

/**
 * Returns the index of a database file, from the index cache or from its pages.
 *
 * @param ext Suffix of names that are numbers.
 * @throws {FormatError} If nothing can be found; with code `changed` if a program has written to the file meanwhile.
 */
export function* openIndex(
  source: ByteSource,
  storage: Storage,
  ext: string,
  options: IndexCacheOptions,
): Steps<OpenedIndex> {
  const meta = yield* readMeta(source);
  // Cached tables are of this state and these names only.
  const state = `${ext}/${meta.bytes.toHex()}`;
  let firstDamage: FormatError | undefined;
  const index = yield* cachedIndex<LmdbIndex>(source, options, {
    kind: "lmdb 1",
    entrySize: Size.NODE_HEADER,
    isCacheable: true,
    take({ columns: kept, facts }) {
      const columns = keptColumns(kept) as LmdbColumns;
      const { meta: of, skipped, databases } = facts as KeptFacts;
      return of === state && areInside(columns, source.size)
        ? { columns, skipped, databases, damage: [] }
        : undefined;
    },
    *make() {
      const builder = new IndexBuilder(source.name, ext);
      if (meta.fault !== undefined) builder.damage(meta.fault);
      yield* new Walk(source, meta, builder).all();
      firstDamage = builder.firstDamage;
      return builder.finish();
    },
    count: ({ columns }) => columns.lengths.length,
    tables: ({ columns, skipped, damage, databases }) => {
      const facts: KeptFacts = { skipped, databases, meta: state };
      return damage.length > 0 || columns.faults.some((fault) => fault !== 0)
        ? undefined
        : { columns: columnsToKeep(columns), facts };
    },
  });
  yield* requireCurrent(source, meta);
  const { columns } = index;
  const isOdd = firstDamage !== undefined ||
    columns.faults.some((fault) => fault !== Fault.NONE);
  const { name: path, size, mtime } = source;
  if (isOdd) {
    // It may have grown between the look at its size and that at its meta page.
    const now = yield* storage.stat(path);
    if (now !== undefined && now.size !== size) {
      throw changedFile(path, size, now.size);
    }
  }
  if (columns.lengths.length === 0 && firstDamage !== undefined) {
    throw firstDamage;
  }
  const { bytes, offset } = meta;
  return {
    index,
    file: { path, size, mtime, columns, meta: { bytes, offset } },
  };
}

/** Whether all readable values lie in the file: cached tables are not trusted. */
function areInside(
  { offsets, lengths, faults }: LmdbColumns,
  size: number,
): boolean {
  return offsets.every((offset, record) =>
    faults[record] !== Fault.NONE ||
    offset >= 0 && offset + lengths[record]! <= size
  );
}
