import type { Steps } from "../../../io/concurrency/steps.ts";
import { keptIndex } from "../../../io/kept/kept_index.ts";
import type { KeptOptions } from "../../../io/kept/kept_place.ts";
import type { KeptTables } from "../../../io/kept/kept_tables.ts";
import type { ByteSource } from "../../../io/storage/byte_source.ts";
import { keptNames, namesToKeep } from "../../../tree/archive/kept_names.ts";
import type { SkippedMembers } from "../../../tree/archive/archive_notes.ts";
import { Size } from "../layout.ts";
import { Fault } from "./faults.ts";
import { readDirectory } from "./central_directory.ts";
import type { ZipColumns, ZipIndex } from "./zip_columns.ts";

/**
 * The index of a zip: as it was kept, or by its central directory.
 *
 * @throws {FormatError} If it is damaged, so that members cannot be found.
 */
export function* openIndex(
  source: ByteSource,
  options: KeptOptions,
): Steps<ZipIndex> {
  return yield* keptIndex<ZipIndex>(source, options, {
    kind: "zip 2",
    entrySize: Size.CENTRAL,
    isToKeep: true,
    take(kept) {
      const before = fromKept(kept);
      return areInside(before.columns, source.size) ? before : undefined;
    },
    make: () => readDirectory(source),
    count: ({ columns }) => columns.sizes.length,
    tables({ columns: { names, ...columns }, skipped }) {
      return {
        columns: { ...columns, ...namesToKeep(names) },
        facts: skipped,
      };
    },
  });
}

/** Whether all contents that are read lie in the file: of tables that were kept, nothing is believed. */
function areInside(
  { headers, packed, faults }: ZipColumns,
  size: number,
): boolean {
  return headers.every((start, record) =>
    faults[record] !== Fault.NONE ||
    start >= 0 && start + packed[record]! <= size
  );
}

function fromKept({ columns: kept, facts }: KeptTables): ZipIndex {
  const bytes = (name: string) => kept[name] as Uint8Array;
  const words = (name: string) => kept[name] as Uint32Array;
  const numbers = (name: string) => kept[name] as Float64Array;
  return {
    skipped: facts as SkippedMembers,
    columns: {
      names: keptNames(kept),
      times: numbers("times"),
      nodes: words("nodes"),
      headers: numbers("headers"),
      packed: numbers("packed"),
      sizes: numbers("sizes"),
      sums: words("sums"),
      methods: words("methods"),
      faults: bytes("faults"),
      links: words("links"),
      linkStarts: words("linkStarts"),
      targets: words("targets"),
      pathLengths: words("pathLengths"),
      pathSums: words("pathSums"),
    },
  };
}
