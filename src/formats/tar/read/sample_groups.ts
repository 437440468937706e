import { sharedUint32 } from "../../../tree/shared_numbers.ts";
import type { PathEntries } from "../../../tree/archive/path_entries.ts";

const DOT = 0x2e;

/** Files by their samples. */
export interface SampleGroups {
  readonly sampleRecords: Uint32Array;
  readonly sampleStarts: Uint32Array;
}

/** Files that are samples themselves. */
export const NO_GROUPS: SampleGroups = {
  sampleRecords: sharedUint32(0),
  sampleStarts: sharedUint32(0),
};

/**
 * Gathers files to samples, as WebDataset does: neighbours whose paths are the same up to the first dot of the last
 * name. Names without a dot, or that begin with one, are of no sample.
 *
 * @param entries Of each file, in the order of the tar, its entry.
 * @param records Of each file, its record.
 * @returns {@linkcode NO_GROUPS} unless at least half of the files have a neighbour of their key.
 */
export function gatherSamples(
  paths: PathEntries,
  entries: ArrayLike<number>,
  records: ArrayLike<number>,
): SampleGroups {
  const names = paths.names;
  const gathered = sharedUint32(entries.length);
  const starts = sharedUint32(entries.length + 1);
  let count = 0;
  let samples = 0;
  let joined = 0;
  let before = { parent: -1, start: 0, length: 0 };
  for (let i = 0; i < entries.length; i++) {
    const entry = entries[i]!;
    const start = paths.starts.at(entry);
    const end = paths.ends.at(entry);
    let dot = start;
    while (dot < end && names[dot] !== DOT) dot++;
    if (dot === start || dot >= end - 1) continue;
    const parent = paths.parents.at(entry);
    const length = dot - start;
    const isSame = parent === before.parent && length === before.length &&
      paths.startAlike(start, before.start, length);
    if (!isSame) {
      starts[samples++] = count;
      before = { parent, start, length };
    } else joined += starts[samples - 1] === count - 1 ? 2 : 1;
    gathered[count++] = records[i]!;
  }
  if (joined === 0 || 2 * joined < entries.length) return NO_GROUPS;
  starts[samples] = count;
  return {
    sampleRecords: gathered.subarray(0, count),
    sampleStarts: sharedUint32(starts.subarray(0, samples + 1)),
  };
}
