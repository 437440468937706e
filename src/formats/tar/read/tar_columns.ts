import type {
  DamagedPart,
  SkippedMembers,
} from "../../../tree/archive/archive_notes.ts";
import type { ArchiveColumns } from "../../../tree/archive/archive_tree.ts";
import type { GroupFacts } from "./sample_groups.ts";
import { Fault } from "./faults.ts";

/** Hash of a header that was not read, as in a foreign index. */
export const NO_HEAD = 0;

export interface HoleColumns {
  /** Records of sparse files, ascending. */
  readonly records: Uint32Array;
  /** Per such record, plus one: where its ranges start. */
  readonly starts: Uint32Array;
  /** Per range: offset in the file. */
  readonly offsets: Float64Array;
  /** Per range: length in bytes. */
  readonly lengths: Float64Array;
  /** Per range: offset in the tar. */
  readonly places: Float64Array;
}

/** Tables of a tar, in memory shared by threads. */
export interface TarColumns extends ArchiveColumns {
  /** Per record (file or link), in tar order: offset of its content; for a link, of its target in the names. */
  readonly offsets: Float64Array;
  /** Per record: size of its content in bytes; for a link, -1 minus the length of its target. */
  readonly sizes: Float64Array;
  /** Per record: hash of the block before its content, or `NO_HEAD`. */
  readonly heads: Uint32Array;
  readonly holes: HoleColumns;
  /** Records of all WebDataset samples, sample by sample. */
  readonly sampleRecords: Uint32Array;
  /** Per sample, plus one: where its records start. */
  readonly sampleStarts: Uint32Array;
  /**
   * Per sample: number plus 1 of its first file's directory, if the tar's spelling differs from the path; else 0. Empty
   * if there are none.
   */
  readonly sampleDirectories: Uint32Array;
  /** Two numbers per such directory: its start and end in the names. */
  readonly spelledDirectories: Uint32Array;
}

/** Tables of a tar, with findings from opening it. */
export interface TarIndex {
  readonly columns: TarColumns;
  readonly groups: GroupFacts;
  /** Warnings about the tar as a whole. */
  readonly warnings: readonly string[];
  readonly skipped: SkippedMembers;
  /** Parts of the tar that were skipped because nothing can be found in them. */
  readonly damage: readonly DamagedPart[];
  /** Path of the adjacent index that the tables were made from; otherwise they were made from the tar. */
  readonly madeBy?: string | undefined;
  /** Whether the tables are from the index cache. */
  readonly isKept?: boolean;
  /** Whether they are from an index file, which anybody may have made. */
  readonly isForeign?: boolean;
}

export function sampleCount({ sampleStarts }: TarColumns): number {
  return sampleStarts.length - 1;
}

/** Whether all contents are within the file. Guards against invalid cached tables. */
export function areInside(
  { offsets, sizes, faults, names, holes, spelledDirectories }: TarColumns,
  size: number,
): boolean {
  const isNamed = (end: number) => end <= names.names.length;
  if (!spelledDirectories.every(isNamed)) return false;
  const sparse = new Set(holes.records);
  return offsets.every((start, record) => {
    const length = sizes[record]!;
    if (length < 0) return isNamed(start - length - 1);
    return faults[record] !== Fault.NONE || sparse.has(record) ||
      start >= 0 && start + length <= size;
  }) && areHolesInside(holes, sizes, size);
}

function areHolesInside(
  { records, starts, offsets, lengths, places }: HoleColumns,
  sizes: Float64Array,
  size: number,
): boolean {
  return starts.length === records.length + 1 &&
    records.every((record, i) => {
      let end = 0;
      for (let piece = starts[i]!; piece < starts[i + 1]!; piece++) {
        const [offset, length] = [offsets[piece]!, lengths[piece]!];
        const place = places[piece]!;
        if (!(offset >= end && length > 0)) return false;
        if (!(place >= 0 && place + length <= size)) return false;
        end = offset + length;
      }
      return end <= sizes[record]!;
    });
}
