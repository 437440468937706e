import type { RecordKind } from "../kinds.ts";
import { FRAME, HEADER, unmasked } from "../layout.ts";
import type { Cut } from "./cut.ts";
import type { WholeNumbers } from "../../../tree/shared_numbers.ts";
import { type Extent, placeChecked } from "../../../tree/tree.ts";

/** What is known of a file: tables over memory that threads share. */
export interface RecordColumns {
  /** Per record, and once more for the end: where it starts, its length before its data. */
  readonly starts: WholeNumbers;
  /** Per record: the checksum of its data, as it stands in the file. */
  readonly sums: Uint32Array;
}

/** A file's tables, and what its records are by the first of them. */
export interface RecordIndex {
  readonly columns: RecordColumns;
  readonly kind: RecordKind;
  /** The damaged record that these end before. */
  readonly cut?: Cut | undefined;
}

/** Says where the data of a record is. */
export function locateRecord(
  { starts, sums }: RecordColumns,
  record: number,
  source: number,
  into: Extent,
): void {
  const start = starts[record]!;
  const length = starts[record + 1]! - start - FRAME;
  const checksum = unmasked(sums[record]!);
  placeChecked(source, start + HEADER, length, "crc32c", checksum, into);
}

/** Whether tables are of a file of that size: of those that were kept, nothing is believed. */
export function areOf({ starts, sums }: RecordColumns, size: number): boolean {
  if (starts[0] !== 0 || starts.at(-1) !== size) return false;
  if (starts.length !== sums.length + 1) return false;
  for (let i = 0; i < sums.length; i++) {
    if (!(starts[i + 1]! - starts[i]! >= FRAME)) return false;
  }
  return true;
}
