import type { GrowingNumbers } from "../../../tree/growing_numbers.ts";
import { DIRECTORY_BIT } from "../../../tree/name_table.ts";
import { NameTableBuilder } from "../../../tree/name_table_builder.ts";
import { sharedFloat64, sharedUint32 } from "../../../tree/shared_numbers.ts";
import { type PathTable, ROOT_ENTRY } from "./path_table.ts";
import { gatherSamples } from "./sample_groups.ts";
import type { TarColumns } from "./tar_columns.ts";

/** What was gathered of a tar. */
export interface Gathered {
  readonly paths: PathTable;
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
  const records = liveRecords(paths, entries);
  const count = records.live.length;
  const { table, nodeOf } = nameEntries(paths, records.numbers);
  const columns = {
    offsets: sharedFloat64(count),
    sizes: sharedFloat64(count),
    nodes: sharedUint32(count),
  };
  const links: number[] = [];
  const files: number[] = [];
  for (let record = 0; record < count; record++) {
    const old = records.live[record]!;
    const size = sizes.at(old);
    columns.offsets[record] = offsets.at(old);
    columns.sizes[record] = size;
    columns.nodes[record] = nodeOf[entries.at(old)]!;
    if (size < 0) links.push(record);
    else files.push(record);
  }
  const entryOf = (record: number) => entries.at(records.live[record]!);
  const groups = gatherSamples(paths, files.map(entryOf), files);
  const times = sharedFloat64(table.length);
  for (let entry = 0; entry < paths.length; entry++) {
    const node = nodeOf[entry]!;
    if (node > 0) times[node - 1] = paths.times.at(entry);
  }
  return {
    names: table.columns,
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
  { refs }: PathTable,
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

/** Names all entries, directory by directory, each in the order of the tar; 0 is the node of what is left out. */
function nameEntries(paths: PathTable, numbers: Uint32Array) {
  const { parents, refs, starts, ends, length } = paths;
  // The children of each directory, one behind the other.
  const firsts = new Uint32Array(length + 1);
  for (let entry = 1; entry < length; entry++) firsts[parents.at(entry) + 1]!++;
  for (let entry = 0; entry < length; entry++) {
    firsts[entry + 1]! += firsts[entry]!;
  }
  const next = firsts.slice();
  const children = new Uint32Array(length);
  for (let entry = 1; entry < length; entry++) {
    children[next[parents.at(entry)]!++] = entry;
  }
  const builder = new NameTableBuilder(length, paths.names);
  const nodeOf = new Uint32Array(length);
  const queue = [ROOT_ENTRY];
  nodeOf[ROOT_ENTRY] = 1;
  let node = 1;
  for (let directory = 0; directory < queue.length; directory++) {
    const parent = queue[directory]!;
    builder.nextDirectory();
    for (let i = firsts[parent]!; i < firsts[parent + 1]!; i++) {
      const entry = children[i]!;
      const ref = refs.at(entry);
      const [start, end] = [starts.at(entry), ends.at(entry)];
      if (ref === DIRECTORY_BIT) {
        builder.addDirectory(start, end);
        queue.push(entry);
      } else if (ref < numbers.length) {
        builder.addFile(start, end, numbers[ref]!);
      } else continue; // it is left out
      nodeOf[entry] = ++node;
    }
  }
  return { table: builder.finish(), nodeOf };
}
