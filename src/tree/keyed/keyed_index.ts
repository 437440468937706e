import type { Steps } from "../../io/concurrency/steps.ts";
import { cachedIndex } from "../../io/index_cache/cached_index.ts";
import type { IndexCacheOptions } from "../../io/index_cache/cache_location.ts";
import { againIfChanged, changedFile } from "../../io/storage/changed_file.ts";
import { openFile } from "../../io/storage/open_file.ts";
import { readPart } from "../../io/read/read_part.ts";
import type { ByteSource } from "../../io/storage/byte_source.ts";
import type { Storage } from "../../io/storage/storage.ts";
import { skippedError } from "../archive/archive_notes.ts";
import { columnsToKeep, keptColumns } from "../archive/archive_columns.ts";
import { areDamaged, skippedOf } from "../archive/foreign_facts.ts";
import { areSound } from "../archive/sound_columns.ts";
import type { CheckRun } from "../check/check_run.ts";
import type { ContainerOptions } from "../format.ts";
import { nameSuffix } from "../names/numbered_names.ts";
import { KeyFault } from "./key_faults.ts";
import {
  KeyedBuilder,
  type KeyedColumns,
  type KeyedIndex,
} from "./keyed_builder.ts";
import { type KeyedFile, KeyedTree } from "./keyed_tree.ts";

/** How a format indexes its files. */
export interface KeyedFormat {
  /** Kind and version of the cached index. */
  readonly kind: string;
  /** Smallest size of an entry in the file, in bytes. */
  readonly entrySize: number;
  /** Bytes that are others in another state of the file. */
  readonly guard: KeyedFile["guard"];
  /** Passes everything in the file to the builder. */
  walk(builder: KeyedBuilder): Steps<void>;
}

type StoreOptions = IndexCacheOptions & Pick<ContainerOptions, "ext">;

/** A store with its index. */
export interface OpenedStore {
  readonly tree: KeyedTree;
  readonly index: KeyedIndex;
  /** Closes the file. */
  close(): void;
}

/**
 * Opens the file of a store, by its cached index or by a walk; again, if other programs write to it meanwhile.
 *
 * @param look Reads how a file is indexed.
 * @throws {FormatError} The first damage, if no value is found; `changed` if the file is written to all the time.
 */
export function openStore(
  path: string,
  storage: Storage,
  options: StoreOptions,
  look: (source: ByteSource) => Steps<KeyedFormat>,
): Steps<OpenedStore> {
  return againIfChanged(function* () {
    const source = yield* openFile(storage, path);
    try {
      return yield* openNow(source, options, yield* look(source));
    } catch (error) {
      source.close();
      throw error;
    }
  });
}

function* openNow(
  source: ByteSource,
  options: StoreOptions,
  format: KeyedFormat,
): Steps<OpenedStore> {
  const { name: path, size, mtime } = source;
  const { kind, entrySize, guard } = format;
  source.guard?.(guard.offset, guard.bytes);
  const ext = nameSuffix(options.ext);
  // Cached tables are of this state and these names only.
  const state = `${ext}/${guard.bytes.toHex()}`;
  const builder = new KeyedBuilder(path, ext);
  const index = yield* cachedIndex<KeyedIndex>(source, options, {
    kind,
    entrySize,
    isCacheable: true,
    take({ columns: kept, facts, isForeign }) {
      const columns = keptColumns(kept) as KeyedColumns;
      const { of, ...rest } = facts as KeyedIndex & { readonly of: string };
      const isSound = of === state && areInside(columns, size);
      if (!isSound) return undefined;
      return isForeign
        ? foreignStore(path, columns, rest)
        : { ...rest, columns };
    },
    *make() {
      yield* format.walk(builder);
      return builder.finish();
    },
    count: ({ columns }) => columns.lengths.length,
    tables: ({ columns, ...rest }) =>
      builder.isSound
        ? { columns: columnsToKeep(columns), facts: { ...rest, of: state } }
        : undefined,
    headerAt: ({ columns }, value) => columns.offsets[value]!,
  });
  yield* requireSame(source, guard);
  const { columns } = index;
  const { firstDamage } = builder;
  if (firstDamage !== undefined && columns.lengths.length === 0) {
    throw firstDamage;
  }
  const file = { path, size, mtime, columns, guard };
  const tree = new KeyedTree(file, [source], index);
  return { tree, index, close: () => tree.close() };
}

/** Reports everything that is damaged or skipped in a store. Returns the number of its values. */
export function* checkStore(
  run: CheckRun,
  source: ByteSource,
  { guard, walk }: KeyedFormat,
): Steps<number> {
  const { name: path, size, mtime } = source;
  const builder = new KeyedBuilder(path, "", {
    skip: (member) => run.damage(skippedError(member)),
    damage: (error) => run.damage(error),
  });
  yield* walk(builder);
  const { columns } = builder.finish();
  const tree = new KeyedTree({ path, size, mtime, columns, guard });
  for (const record of tree.unreadable()) run.damage(tree.faultOf(record));
  yield* requireSame(source, guard);
  return columns.lengths.length;
}

/** Throws FormatError (`changed`) if a file is no longer in the state of its guard. */
function* requireSame(
  source: ByteSource,
  { offset, bytes }: KeyedFile["guard"],
): Steps<void> {
  const now = yield* readPart(source, offset, bytes.length);
  if (now.some((byte, i) => byte !== bytes[i])) throw changedFile(source.name);
}

/** Returns the index of tables that anybody may have made for this state of the store. */
function foreignStore(
  path: string,
  columns: KeyedColumns,
  { skipped, damage, databases }: Omit<KeyedIndex, "columns">,
): KeyedIndex | undefined {
  const { offsets, lengths, suffixes, links } = columns;
  const known = skippedOf(skipped, path);
  const isSound = offsets instanceof Float64Array &&
    offsets.every(Number.isSafeInteger) && lengths instanceof Uint32Array &&
    suffixes instanceof Uint8Array && lengths.length === offsets.length &&
    suffixes.length === offsets.length && links.length === 0 &&
    areSound(columns, offsets.length) && areDamaged(damage) &&
    Number.isSafeInteger(databases);
  return isSound && known
    ? { columns, skipped: known, damage, databases }
    : undefined;
}

/** Whether all readable values lie in the file: cached tables are not trusted. */
function areInside(
  { offsets, lengths, faults }: KeyedColumns,
  size: number,
): boolean {
  return offsets.every((offset, record) =>
    faults[record] !== KeyFault.NONE ||
    offset >= 0 && offset + lengths[record]! <= size
  );
}
