import type { Steps } from "../../../io/concurrency/steps.ts";
import { cachedIndex } from "../../../io/index_cache/cached_index.ts";
import type { IndexCacheOptions } from "../../../io/index_cache/cache_location.ts";
import type { ByteSource } from "../../../io/storage/byte_source.ts";
import {
  columnsToKeep,
  keptColumns,
} from "../../../tree/archive/archive_columns.ts";
import { skippedOf } from "../../../tree/archive/foreign_facts.ts";
import { areSound } from "../../../tree/archive/sound_columns.ts";
import type { SkippedMembers } from "../../../tree/archive/archive_notes.ts";
import { Size } from "../layout.ts";
import { Fault } from "./faults.ts";
import { readDirectory } from "./central_directory.ts";
import type { ZipColumns, ZipIndex } from "./zip_columns.ts";

/** Longest path in a header, whose length has 16 bits. */
const LONGEST_PATH = 0xffff;

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
    take({ columns: kept, facts, isForeign }) {
      const columns = keptColumns(kept) as ZipColumns;
      const skipped = isForeign
        ? skippedOf(facts, source.name)
        : facts as SkippedMembers;
      const isSound = areInside(columns, source.size) &&
        (!isForeign || isForeignSound(columns));
      return isSound && skipped ? { columns, skipped } : undefined;
    },
    make: () => readDirectory(source),
    count: ({ columns }) => columns.sizes.length,
    tables: ({ columns, skipped }) => ({
      columns: columnsToKeep(columns),
      facts: skipped,
    }),
    headerAt: ({ columns }, entry) => columns.headers[entry]!,
  });
}

/** Whether tables that anybody may have made are those of a zip. Local headers are compared when contents are read. */
function isForeignSound(columns: ZipColumns): boolean {
  const { headers, packed, sizes, sums, methods, linkStarts, names } = columns;
  const { pathLengths, pathSums, links } = columns;
  const records = sizes.length;
  const areNumbers = [headers, packed, sizes].every((column) =>
    column instanceof Float64Array && column.length === records &&
    column.every((number) => Number.isSafeInteger(number) && number >= 0)
  );
  const areColumns = [sums, methods, pathLengths, pathSums].every((column) =>
    column instanceof Uint32Array && column.length === records
  );
  return areNumbers && areColumns && areSound(columns, records) &&
    linkStarts instanceof Uint32Array && linkStarts.length === links.length &&
    linkStarts.every((start, link) =>
      start + sizes[links[link]!]! <= names.names.length
    ) && pathLengths.every((length) => length <= LONGEST_PATH);
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
