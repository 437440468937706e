import type { Steps } from "../../../io/concurrency/steps.ts";
import { cachedIndex } from "../../../io/index_cache/cached_index.ts";
import type { IndexCacheOptions } from "../../../io/index_cache/cache_location.ts";
import type { ByteSource } from "../../../io/storage/byte_source.ts";
import type { Storage } from "../../../io/storage/storage.ts";
import { FormatError } from "../../../base/errors.ts";
import { TAR_BLOCK } from "../../../base/tar_header.ts";
import {
  columnsToKeep,
  keptColumns,
} from "../../../tree/archive/archive_columns.ts";
import {
  compressionOf,
  decompressedName,
} from "../../../io/compressed/compressions.ts";
import { readPart } from "../../../io/read/read_part.ts";
import { readDaliIndex } from "./dali_index.ts";
import { foreignIndex, isFollowable } from "./foreign_index.ts";
import { scanTar } from "./scan.ts";
import { TarBuilder } from "./tar_builder.ts";
import { areInside, type TarColumns, type TarIndex } from "./tar_columns.ts";
import { lookAtEnd } from "./tar_end.ts";

/** Kind and version of the index. */
export const INDEX_KIND = "tar 6";
/** Maximum number of damages listed. */
const MOST_DAMAGE = 1000;
/** Maximum bytes fetched to find a header after a damaged one. */
const FARTHEST = 64 << 20;

/** Remote tars of at least this many bytes are looked up in an adjacent index. */
const LARGE = 8 << 20;

/**
 * Opens the index of a tar: from the index cache, an adjacent DALI index, or by scanning all headers.
 *
 * @param path Path of the tar in `storage`.
 * @throws {FormatError} If nothing in it can be found.
 */
export function* openIndex(
  source: ByteSource,
  path: string,
  storage: Storage,
  options: IndexCacheOptions,
): Steps<TarIndex> {
  return yield* cachedIndex<TarIndex>(source, options, {
    kind: INDEX_KIND,
    entrySize: TAR_BLOCK,
    isCacheable: true,
    take({ columns: kept, facts, isForeign }) {
      const columns = keptColumns(kept) as TarColumns;
      if (!areInside(columns, source.size)) return undefined;
      return isForeign
        ? foreignIndex(source, columns, facts)
        : { ...facts as Omit<TarIndex, "columns">, columns, isKept: true };
    },
    *make() {
      yield* refuseCompressed(source);
      const isFar = source.readAtSync === undefined;
      const beside = isFar && source.size >= LARGE
        ? yield* readDaliIndex(source, path, storage)
        : undefined;
      return beside ?? (yield* scan(source));
    },
    count: ({ columns }) => columns.offsets.length,
    tables: ({ columns, ...facts }) => ({
      columns: columnsToKeep(columns),
      facts,
    }),
    travels: ({ columns }) => isFollowable(columns),
    headerAt: ({ columns }, entry) => columns.offsets[entry]! - TAR_BLOCK,
  });
}

function* scan(source: ByteSource): Steps<TarIndex> {
  const damage: FormatError[] = [];
  const onDamage = (error: FormatError) => {
    if (damage.length < MOST_DAMAGE) damage.push(error);
  };
  const builder = new TarBuilder(source.name);
  const warnings = yield* scanAll(source, builder, onDamage, FARTHEST);
  const [first] = damage;
  if (first !== undefined && builder.isEmpty) throw first;
  const told = damage.map(({ code, message }) => ({ code, message }));
  return { ...builder.finish(), warnings, damage: told };
}

/**
 * Scans all headers of a tar with {@linkcode scanTar}, and checks what follows its end.
 *
 * @param farthest If omitted, also checks everything after the end.
 * @returns Warnings about the tar as a whole.
 */
export function* scanAll(
  source: ByteSource,
  builder: TarBuilder,
  onDamage: (damage: FormatError) => void,
  farthest?: number,
): Steps<string[]> {
  const end = yield* scanTar(source, builder, onDamage, farthest);
  const isWhole = farthest === undefined;
  const odd = end && (yield* lookAtEnd(source, end, isWhole));
  if (odd?.damage !== undefined) onDamage(odd.damage);
  return odd?.warning === undefined ? [] : [odd.warning];
}

/** Rejects a compressed file with advice on how to decompress it. */
export function* refuseCompressed(source: ByteSource): Steps<void> {
  const { name: path } = source;
  const head = yield* readPart(source, 0, Math.min(source.size, 8));
  const compression = compressionOf(head);
  if (compression === undefined) return;
  const { name, command } = compression;
  const shown = decompressedName(path);
  const plain = shown === path ? `${path}.plain.tar` : shown;
  throw new FormatError(
    "unsupported",
    `Cannot open ${path}: it is compressed by ${name}, and has no ` +
      `random access. Decompress it (${command} ${path} > ${plain}), and ` +
      "open that",
    { path, actual: name },
  );
}
