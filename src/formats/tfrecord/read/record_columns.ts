import type { RecordKind } from "../kinds.ts";
import { FRAME, HEADER, unmasked } from "../layout.ts";
import type { Cut } from "../../../tree/records/cut.ts";
import type { WholeNumbers } from "../../../tree/shared_numbers.ts";
import { type Extent, placeChecked } from "../../../tree/tree.ts";

/** Tables of a file, in shared memory. */
export interface RecordColumns {
  /** Per record: its start, where its length precedes its data; then the end of the last. */
  readonly starts: WholeNumbers;
  /** Per record: checksum of its data, as stored. */
  readonly sums: Uint32Array;
}

/** Tables of a file, and the kind of its records by the first of them. */
export interface RecordIndex {
  readonly columns: RecordColumns;
  readonly kind: RecordKind;
  /** The damaged record that follows them. */
  readonly cut?: Cut | undefined;
}

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

/** Whether tables fit a file of that size: cached tables are not trusted. */
export function areOf({ starts, sums }: RecordColumns, size: number): boolean {
  if (!(sums instanceof Uint32Array)) return false;
  if (starts[0] !== 0 || starts.at(-1) !== size) return false;
  if (starts.length !== sums.length + 1) return false;
  for (let i = 0; i < sums.length; i++) {
    const length = starts[i + 1]! - starts[i]!;
    if (!(Number.isInteger(length) && length >= FRAME)) return false;
  }
  return true;
}
