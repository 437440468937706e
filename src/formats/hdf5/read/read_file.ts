import type { IndexCacheOptions } from "../../../io/index_cache/cache_location.ts";
import { cachedIndex } from "../../../io/index_cache/cached_index.ts";
import type { CachedTables } from "../../../io/index_cache/tables_format.ts";
import type { Steps } from "../../../io/concurrency/steps.ts";
import type { ByteSource } from "../../../io/storage/byte_source.ts";
import type { SkippedMembers } from "../../../tree/archive/archive_notes.ts";
import { type Catalog, readCatalog } from "./catalog.ts";
import { Hdf5File } from "./hdf5_file.ts";
import { PAGE } from "./metadata.ts";
import { findRows, type Hdf5Rows } from "./row_cells.ts";

/** Smallest object in bytes: a link to it, and its header. */
const SMALLEST = 64;

/** A file whose objects have been listed. */
export interface ReadFile {
  readonly file: Hdf5File;
  readonly catalog: Catalog;
  readonly skipped: SkippedMembers;
  /** Rows that are samples, if it has any. */
  readonly rows: Omit<Hdf5Rows, "path" | "size" | "mtime"> | undefined;
}

type Pages = Map<number, Uint8Array>;
type Found = Pick<ReadFile, "catalog" | "skipped">;

/**
 * Lists the objects of a file. The index cache keeps the pages that this takes, which are parsed as those of the file.
 *
 * @throws {FormatError} If its root cannot be read.
 */
export function* readFile(
  source: ByteSource,
  options: IndexCacheOptions,
): Steps<ReadFile> {
  const file = yield* Hdf5File.open(source);
  const { metadata } = file;
  const index = yield* cachedIndex<{ pages: Pages | undefined; found?: Found }>(
    source,
    options,
    {
      kind: "hdf5 1",
      entrySize: SMALLEST,
      isCacheable: true,
      count: ({ found, pages }) =>
        found?.catalog.entries.length ?? pages?.size ?? 0,
      tables: ({ pages }) => pages && tablesOf(pages),
      take: (tables) => {
        const pages = pagesIn(tables, source.size);
        return pages && { pages };
      },
      *make() {
        metadata.recorded = new Map();
        const found = yield* readCatalog(file);
        return { pages: metadata.recorded, found };
      },
    },
  );
  metadata.recorded = index.pages;
  const { catalog, skipped } = index.found ?? (yield* readCatalog(file));
  const rows = yield* findRows(file, catalog.columns);
  metadata.recorded = undefined;
  return { file, catalog, skipped, rows };
}

function tablesOf(pages: Pages): CachedTables {
  const bytes = new Uint8Array(pages.size * PAGE);
  [...pages.values()].forEach((page, i) => bytes.set(page, i * PAGE));
  const columns = { numbers: Float64Array.from(pages.keys()), bytes };
  return { columns, facts: null };
}

/** Returns cached pages, if they are of a file of that size: nothing else of them is trusted. */
function pagesIn({ columns }: CachedTables, size: number): Pages | undefined {
  const { numbers, bytes } = columns;
  const isSound = numbers instanceof Float64Array &&
    bytes instanceof Uint8Array && bytes.length === numbers.length * PAGE &&
    numbers.every((page) => page >= 0 && page * PAGE < size);
  if (!isSound) return undefined;
  return new Map(
    Array.from(numbers, (page, i) => {
      const length = Math.min(PAGE, size - page * PAGE);
      return [page, bytes.subarray(i * PAGE, i * PAGE + length)];
    }),
  );
}
