import { newSharedMemory } from "../../../io/libc/new_memory.ts";
import type { PathEntries } from "../../../tree/archive/path_entries.ts";
import type { GrowingNumbers } from "../../../tree/growing_numbers.ts";
import { sharedFloat64, sharedUint32 } from "../../../tree/shared_numbers.ts";
import { gatherSamples } from "./sample_groups.ts";
import type { SparseMap } from "./sparse_map.ts";
import type { TarBuilder } from "./tar_builder.ts";
import type { HoleColumns, TarColumns, TarIndex } from "./tar_columns.ts";

/**
 * Builds the final tables: entries in breadth-first order, without records whose paths were overwritten.
 *
 * @param targets Target entries of links by their entries; negative if there is none.
 */
export function makeColumns(
  gathered: TarBuilder,
  targets: ReadonlyMap<number, number>,
): Pick<TarIndex, "columns" | "groups"> {
  const { offsets, sizes, entries, faults, heads, maps } = gathered;
  const { directories, spelled } = gathered;
  const paths = gathered.paths.entries;
  const { live, numbers } = liveRecords(paths, entries);
  const count = live.length;
  const entryOf = (record: number) => entries.at(live[record]!);
  const files = new Uint32Array(count).map((_, record) => record)
    .filter((record) => sizes.at(live[record]!) >= 0);
  const directoryOf = (file: number) => directories.at(live[files[file]!]!);
  const groups = gatherSamples({
    paths,
    entries: files.map(entryOf),
    records: files,
    isRespelled: (file) => directoryOf(file) > 0,
  });
  // Dropped entries have no record.
  const { names, nodeOf, times } = paths.finish(
    (ref) => numbers[ref] ?? -1,
    groups.order,
  );
  const columns = {
    offsets: sharedFloat64(count),
    sizes: sharedFloat64(count),
    nodes: sharedUint32(count),
    faults: new Uint8Array(newSharedMemory(count)),
    heads: sharedUint32(count),
  };
  const links: number[] = [];
  for (let record = 0; record < count; record++) {
    const old = live[record]!;
    const size = sizes.at(old);
    columns.offsets[record] = offsets.at(old);
    columns.sizes[record] = size;
    columns.nodes[record] = nodeOf[entries.at(old)]!;
    columns.faults[record] = faults.at(old);
    columns.heads[record] = heads.at(old);
    if (size < 0) links.push(record);
  }
  const { sampleRecords, sampleStarts, firstFiles, facts } = groups;
  const made: TarColumns = {
    names,
    ...columns,
    holes: holesOf(maps, live),
    times,
    links: sharedUint32(links),
    targets: sharedUint32(links.map((record) => {
      const target = targets.get(entryOf(record)) ?? -1;
      return target < 0 ? 0 : nodeOf[target]!;
    })),
    sampleRecords,
    sampleStarts,
    sampleDirectories: sharedUint32(
      spelled.ranges.length === 0 ? 0 : firstFiles.map(directoryOf),
    ),
    spelledDirectories: sharedUint32(spelled.ranges),
  };
  return { columns: made, groups: facts };
}

/** Collects the data ranges of sparse files, by final record. */
function holesOf(
  maps: ReadonlyMap<number, SparseMap>,
  live: Uint32Array,
): HoleColumns {
  const records: number[] = [];
  const starts = [0];
  let count = 0;
  if (maps.size > 0) {
    for (const [record, old] of live.entries()) {
      const map = maps.get(old);
      if (map === undefined) continue;
      records.push(record);
      starts.push(count += map.pieces.length / 2);
    }
  }
  const pieces = {
    offsets: sharedFloat64(count),
    lengths: sharedFloat64(count),
    places: sharedFloat64(count),
  };
  let at = 0;
  for (const record of records) {
    const { start, pieces: numbers } = maps.get(live[record]!)!;
    let place = start;
    for (let i = 0; i < numbers.length; i += 2, at++) {
      pieces.offsets[at] = numbers[i]!;
      pieces.lengths[at] = numbers[i + 1]!;
      pieces.places[at] = place;
      place += numbers[i + 1]!;
    }
  }
  return {
    records: sharedUint32(records),
    starts: sharedUint32(starts),
    ...pieces,
  };
}

/** Returns the final records, and a map from all records to them. */
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
