import type { SkippedMembers } from "../../../tree/archive/archive_notes.ts";
import type { ArchiveColumns } from "../../../tree/archive/archive_tree.ts";

/** What is known of a tar: tables over memory that threads share. */
export interface TarColumns extends ArchiveColumns {
  /**
   * Per record, which is a file or a link, in the order of the tar: where its content begins; of a link, where in
   * the names its path stands.
   */
  readonly offsets: Float64Array;
  /** Per record: bytes of its content; of a link, -1 less the bytes of its path. */
  readonly sizes: Float64Array;
  /** The records of all samples, sample by sample; none where the files are the samples. */
  readonly sampleRecords: Uint32Array;
  /** Per sample, and once more: where its records start. */
  readonly sampleStarts: Uint32Array;
}

/** A tar's tables, and what else opening it has told. */
export interface TarIndex {
  readonly columns: TarColumns;
  /** What is odd of the tar as a whole, as sentences. */
  readonly warnings: readonly string[];
  /** The members that are skipped. */
  readonly skipped: SkippedMembers;
}

/** Whether files are gathered to samples by their names. */
export function isWebDataset({ sampleStarts }: TarColumns): boolean {
  return sampleStarts.length > 1;
}

/** Number of samples: files, where these are not gathered. */
export function sampleCount(columns: TarColumns): number {
  return isWebDataset(columns)
    ? columns.sampleStarts.length - 1
    : columns.offsets.length;
}

/** Whether all contents lie in the file: of tables that were kept, nothing is believed. */
export function areInside(
  { offsets, sizes, names }: TarColumns,
  size: number,
): boolean {
  return offsets.every((start, record) => {
    const length = sizes[record]!;
    return length < 0
      ? start - length - 1 <= names.names.length
      : start >= 0 && start + length <= size;
  });
}
