import type { Steps } from "../../../io/concurrency/steps.ts";
import { type KeptOptions, keptPlace } from "../../../io/kept/kept_place.ts";
import {
  type Column,
  keepTables,
  readKeptTables,
} from "../../../io/kept/kept_tables.ts";
import type { ByteSource } from "../../../io/storage/byte_source.ts";
import type { Storage } from "../../../io/storage/storage.ts";
import { FormatError } from "../../../errors.ts";
import type { NameTableColumns } from "../../../tree/name_table.ts";
import { compressionOf } from "../layout.ts";
import { readPart } from "../../../io/read/read_part.ts";
import { readDaliIndex } from "./dali_index.ts";
import { scanTar } from "./scan.ts";
import { TarBuilder } from "./tar_builder.ts";
import { areInside, type TarColumns, type TarIndex } from "./tar_columns.ts";

/** What is kept, and in which form: another form is another kind. */
const KIND = "tar 1";

/** Members from which on the index of a local tar is kept: of fewer, headers are read in no time. */
const MANY = 1 << 15;
/** Bytes from which on that of one is which has to be fetched: of fewer, it is a request or two. */
const LARGE = 8 << 20;

/**
 * The index of a tar: as it was kept, or by what lies beside it, or by all its headers, one after the other.
 *
 * @param path Where the tar lies in `storage`.
 * @throws {FormatError} If it is damaged, or has what is not supported.
 */
export function* openIndex(
  source: ByteSource,
  path: string,
  storage: Storage,
  options: KeptOptions,
): Steps<TarIndex> {
  const isFar = source.readAtSync === undefined;
  const place = isFar && source.size < LARGE
    ? undefined
    : keptPlace(source, KIND, options);
  const kept = place && readKeptTables(place);
  const before = kept && fromKept(kept.columns, kept.facts);
  if (before !== undefined && areInside(before.columns, source.size)) {
    return before;
  }
  yield* refuseCompressed(source);
  const beside = isFar && source.size >= LARGE
    ? yield* readDaliIndex(source, path, storage)
    : undefined;
  const index = beside ?? (yield* scan(source));
  const isMany = isFar || index.columns.offsets.length >= MANY;
  if (place !== undefined && isMany) {
    const { columns, warnings } = index;
    keepTables(place, { columns: toKept(columns), facts: warnings });
  }
  return index;
}

function* scan(source: ByteSource): Steps<TarIndex> {
  const builder = new TarBuilder(source.name);
  yield* scanTar(source, builder);
  return builder.finish();
}

/**
 * Says what to do with what was compressed.
 *
 * @throws {FormatError} If the file begins as something that was.
 */
export function* refuseCompressed(source: ByteSource): Steps<void> {
  const { name: path } = source;
  const head = yield* readPart(source, 0, Math.min(source.size, 8));
  const compression = compressionOf(head);
  if (compression === undefined) return;
  const { name, program, suffixes } = compression;
  const suffix = suffixes.find((suffix) => path.endsWith(suffix));
  const plain = suffix === undefined
    ? `${path}.plain.tar`
    : `${path.slice(0, -suffix.length)}.tar`;
  throw new FormatError(
    "unsupported",
    `${path} is compressed by ${name}, which has to be read from its start to find anything in it: ` +
      `make a plain tar of it (${program} ${path} > ${plain}), which is read from any place`,
    { path, actual: name },
  );
}

/** Columns under one name each: those of the names have their own. */
function toKept(
  { names, ...columns }: TarColumns,
): Record<string, Column> {
  const { sorted, ...named } = names;
  const entries = Object.entries(named)
    .map(([name, column]) => [`names.${name}`, column] as const);
  return {
    ...columns,
    ...Object.fromEntries(entries),
    ...sorted === undefined ? {} : { "names.sorted": sorted },
  };
}

function fromKept(
  kept: Readonly<Record<string, Column>>,
  facts: unknown,
): TarIndex {
  const bytes = (name: string) => kept[name] as Uint8Array;
  const words = (name: string) => kept[name] as Uint32Array;
  const numbers = (name: string) => kept[name] as Float64Array;
  const names: NameTableColumns = {
    names: bytes("names.names"),
    nameStarts: words("names.nameStarts"),
    nameEnds: words("names.nameEnds"),
    refs: words("names.refs"),
    directoryEntries: words("names.directoryEntries"),
    firstChildren: words("names.firstChildren"),
    sorted: kept["names.sorted"] as Uint32Array | undefined,
  };
  return {
    warnings: facts as string[],
    columns: {
      names,
      offsets: numbers("offsets"),
      sizes: numbers("sizes"),
      nodes: words("nodes"),
      times: numbers("times"),
      links: words("links"),
      targets: words("targets"),
      sampleRecords: words("sampleRecords"),
      sampleStarts: words("sampleStarts"),
    },
  };
}
