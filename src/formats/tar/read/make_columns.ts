import type { PathEntries } from "../../../tree/archive/path_entries.ts";
import type { GrowingNumbers } from "../../../tree/growing_numbers.ts";
import { sharedFloat64, sharedUint32 } from "../../../tree/shared_numbers.ts";
import { gatherSamples } from "./sample_groups.ts";
import type { TarColumns } from "./tar_columns.ts";

/** What was gathered of a tar. */
export interface Gathered {
  readonly paths: PathEntries;
  readonly offsets: GrowingNumbers;
  readonly sizes: GrowingNumbers;
  readonly entries: GrowingNumbers;
}

/**
 * Makes tables of what was gathered: entries breadth first, records without those whose paths others have taken.
 *
 * @param targets By the entries of links, where they lead: an entry, or less than 0.
 */
export function makeColumns(
  { paths, offsets, sizes, entries }: Gathered,
  targets: ReadonlyMap<number, number>,
): TarColumns {
  const { live, numbers } = liveRecords(paths, entries);
  const count = live.length;
  // What is left out has no record.
  const { names, nodeOf, times } = paths.finish((ref) => numbers[ref] ?? -1);
  const columns = {
    offsets: sharedFloat64(count),
    sizes: sharedFloat64(count),
    nodes: sharedUint32(count),
  };
  const links: number[] = [];
  const files: number[] = [];
  for (let record = 0; record < count; record++) {
    const old = live[record]!;
    const size = sizes.at(old);
    columns.offsets[record] = offsets.at(old);
    columns.sizes[record] = size;
    columns.nodes[record] = nodeOf[entries.at(old)]!;
    if (size < 0) links.push(record);
    else files.push(record);
  }
  const entryOf = (record: number) => entries.at(live[record]!);
  const groups = gatherSamples(paths, files.map(entryOf), files);
  return {
    names,
    ...columns,
    times,
    links: sharedUint32(links),
    targets: sharedUint32(links.map((record) => {
      const target = targets.get(entryOf(record)) ?? -1;
      return target < 0 ? 0 : nodeOf[target]!;
    })),
    ...groups,
  };
}

/** The records that are there at the end, and by all records that there were, which of these they are. */
function liveRecords(
  { refs }: PathEntries,
  entries: GrowingNumbers,
): { live: Uint32Array; numbers: Uint32Array } {
  const live = new Uint32Array(entries.length);
  const numbers = new Uint32Array(entries.length);
  let count = 0;
  for (let record = 0; record < entries.length; record++) {
    if (refs.at(entries.at(record)) !== record) continue;
    numbers[record] = count;
    live[count++] = record;
  }
  return { live: live.subarray(0, count), numbers };
}
