import type {
  DamagedPart,
  SkippedMembers,
} from "../../../tree/archive/archive_notes.ts";
import type { ArchiveColumns } from "../../../tree/archive/archive_tree.ts";
import type { GroupFacts } from "./sample_groups.ts";
import { Fault } from "./faults.ts";

/** The hash of a header that nobody has read: what an index of others says nothing of. */
export const NO_HEAD = 0;

/** Files with holes: where the pieces of their data are. */
export interface HoleColumns {
  /** The records that are such files, ascending. */
  readonly records: Uint32Array;
  /** Per such record, and once more: where its pieces start. */
  readonly starts: Uint32Array;
  /** Per piece: where in the file it is. */
  readonly offsets: Float64Array;
  /** Per piece: its bytes. */
  readonly lengths: Float64Array;
  /** Per piece: where in the tar it is. */
  readonly places: Float64Array;
}

/** What is known of a tar: tables over memory that threads share. */
export interface TarColumns extends ArchiveColumns {
  /**
   * Per record, which is a file or a link, in the order of the tar: where its content begins; of a link, where in
   * the names its path stands.
   */
  readonly offsets: Float64Array;
  /** Per record: bytes of its content; of a link, -1 less the bytes of its path. */
  readonly sizes: Float64Array;
  /** Per record: the hash of the block before its content, or `NO_HEAD`. */
  readonly heads: Uint32Array;
  readonly holes: HoleColumns;
  /** The records of all samples of WebDataset, sample by sample. */
  readonly sampleRecords: Uint32Array;
  /** Per sample, and once more: where its records start. */
  readonly sampleStarts: Uint32Array;
  /**
   * Per sample: 1 and the number of the directory of its first file, where the tar spells it in another way than its
   * path; otherwise 0. Empty where no directory is.
   */
  readonly sampleDirectories: Uint32Array;
  /** Per such directory two numbers: where in the names it starts and ends. */
  readonly spelledDirectories: Uint32Array;
}

/** A tar's tables, and what else opening it has told. */
export interface TarIndex {
  readonly columns: TarColumns;
  /** What names say of the samples. */
  readonly groups: GroupFacts;
  /** What is odd of the tar as a whole, as sentences. */
  readonly warnings: readonly string[];
  /** The members that are skipped. */
  readonly skipped: SkippedMembers;
  /** What of the tar is passed over because nothing can be found in it, as sentences. */
  readonly damage: readonly DamagedPart[];
  /** Path of the index beside the tar that the tables were made of; otherwise they were made of the tar. */
  readonly madeBy?: string | undefined;
  /** Whether the tables were kept by an earlier program. */
  readonly isKept?: boolean;
}

/** Number of samples of WebDataset. */
export function sampleCount({ sampleStarts }: TarColumns): number {
  return sampleStarts.length - 1;
}

/** Whether all contents lie in the file: of tables that were kept, nothing is believed. */
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
