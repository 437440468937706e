import type { Steps } from "../../../io/concurrency/steps.ts";
import { type KeptOptions, keptPlace } from "../../../io/kept/kept_place.ts";
import {
  type Column,
  keepTables,
  readKeptTables,
} from "../../../io/kept/kept_tables.ts";
import type { ByteSource } from "../../../io/storage/byte_source.ts";
import type { NameTableColumns } from "../../../tree/name_table.ts";
import { Size } from "../layout.ts";
import { readDirectory } from "./central_directory.ts";
import type { ZipColumns, ZipIndex } from "./zip_columns.ts";

/** What is kept, and in which form: another form is another kind. */
const KIND = "zip 1";

/** Members from which on the index of a local zip is kept: of fewer, the directory is read in no time. */
const MANY = 1 << 15;
/** Bytes from which on that of one is which has to be fetched: of fewer, it is a request or two. */
const LARGE = 8 << 20;

/**
 * The index of a zip: as it was kept, or by its central directory.
 *
 * @throws {FormatError} If it is damaged, lies, or has what is not supported.
 */
export function* openIndex(
  source: ByteSource,
  options: KeptOptions,
): Steps<ZipIndex> {
  const isFar = source.readAtSync === undefined;
  const place = source.size < (isFar ? LARGE : MANY * Size.CENTRAL)
    ? undefined
    : keptPlace(source, KIND, options);
  const kept = place && readKeptTables(place);
  const before = kept && fromKept(kept.columns, kept.facts);
  if (before !== undefined && areInside(before.columns, source.size)) {
    return before;
  }
  const index = yield* readDirectory(source);
  const { columns, warnings } = index;
  if (place !== undefined && (isFar || columns.sizes.length >= MANY)) {
    keepTables(place, { columns: toKept(columns), facts: warnings });
  }
  return index;
}

/** Whether all contents lie in the file: of tables that were kept, nothing is believed. */
function areInside({ headers, packed }: ZipColumns, size: number): boolean {
  return headers.every((start, record) =>
    start >= 0 && start + packed[record]! <= size
  );
}

/** Columns under one name each: those of the names have their own. */
function toKept({ names, ...columns }: ZipColumns): Record<string, Column> {
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
): ZipIndex {
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
      times: numbers("times"),
      nodes: words("nodes"),
      headers: numbers("headers"),
      packed: numbers("packed"),
      sizes: numbers("sizes"),
      sums: words("sums"),
      methods: bytes("methods"),
      pathLengths: words("pathLengths"),
      pathSums: words("pathSums"),
    },
  };
}
