import type { Steps } from "../../../io/concurrency/steps.ts";
import { keptIndex } from "../../../io/kept/kept_index.ts";
import type { KeptOptions } from "../../../io/kept/kept_place.ts";
import type { KeptTables } from "../../../io/kept/kept_tables.ts";
import type { ByteSource } from "../../../io/storage/byte_source.ts";
import type { Storage } from "../../../io/storage/storage.ts";
import { FormatError } from "../../../errors.ts";
import { BLOCK } from "../../../tar_header.ts";
import { keptNames, namesToKeep } from "../../../tree/archive/kept_names.ts";
import { compressionOf } from "../layout.ts";
import { readPart } from "../../../io/read/read_part.ts";
import { readDaliIndex } from "./dali_index.ts";
import { scanTar } from "./scan.ts";
import { TarBuilder } from "./tar_builder.ts";
import { areInside, type TarIndex } from "./tar_columns.ts";

/** Bytes of a tar that has to be fetched from which on it is looked for an index beside it. */
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
  return yield* keptIndex<TarIndex>(source, options, {
    kind: "tar 3",
    entrySize: BLOCK,
    take(kept) {
      const before = fromKept(kept);
      return areInside(before.columns, source.size) ? before : undefined;
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
    tables({ columns: { names, ...columns }, ...facts }) {
      return { columns: { ...columns, ...namesToKeep(names) }, facts };
    },
  });
}

function* scan(source: ByteSource): Steps<TarIndex> {
  const builder = new TarBuilder(source.name);
  const end = yield* scanTar(source, builder);
  const index = builder.finish();
  if (end === undefined || end.isMarked) return index;
  const cut =
    `${source.name} ends without the zeros that end a tar: where it was cut between two members, those behind are ` +
    "missing";
  return { ...index, warnings: [...index.warnings, cut] };
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

function fromKept({ columns: kept, facts }: KeptTables): TarIndex {
  const words = (name: string) => kept[name] as Uint32Array;
  const numbers = (name: string) => kept[name] as Float64Array;
  return {
    ...facts as Omit<TarIndex, "columns">,
    columns: {
      names: keptNames(kept),
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
