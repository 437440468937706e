import type { Steps } from "../../../io/concurrency/steps.ts";
import { cachedIndex } from "../../../io/index_cache/cached_index.ts";
import type { IndexCacheOptions } from "../../../io/index_cache/cache_location.ts";
import type { ByteSource } from "../../../io/storage/byte_source.ts";
import {
  columnsToKeep,
  keptColumns,
} from "../../../tree/archive/archive_columns.ts";
import type { SkippedMembers } from "../../../tree/archive/archive_notes.ts";
import { Size } from "../layout.ts";
import { Fault } from "./faults.ts";
import { readDirectory } from "./central_directory.ts";
import type { ZipColumns, ZipIndex } from "./zip_columns.ts";

/**
 * Returns the index of a zip, from the index cache or its central directory. Throws FormatError if it is damaged, so
 * that members cannot be found.
 */
export function* openIndex(
  source: ByteSource,
  options: IndexCacheOptions,
): Steps<ZipIndex> {
  return yield* cachedIndex<ZipIndex>(source, options, {
    kind: "zip 2",
    entrySize: Size.CENTRAL,
    isCacheable: true,
    take({ columns: kept, facts }) {
      const columns = keptColumns(kept) as ZipColumns;
      return areInside(columns, source.size)
        ? { columns, skipped: facts as SkippedMembers }
        : undefined;
    },
    make: () => readDirectory(source),
    count: ({ columns }) => columns.sizes.length,
    tables: ({ columns, skipped }) => ({
      columns: columnsToKeep(columns),
      facts: skipped,
    }),
  });
}

/** Whether all readable contents lie in the file: cached tables are not trusted. */
function areInside(
  { headers, packed, faults }: ZipColumns,
  size: number,
): boolean {
  return headers.every((start, record) =>
    faults[record] !== Fault.NONE ||
    start >= 0 && start + packed[record]! <= size
  );
}
