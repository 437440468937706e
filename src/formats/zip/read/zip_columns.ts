import type { ArchiveColumns } from "../../../tree/archive/archive_tree.ts";
import type { SkippedMembers } from "../../../tree/archive/archive_notes.ts";
import { Fault } from "./faults.ts";
import { Method } from "../layout.ts";

/** What is known of a zip: tables over memory that threads share. A record is a file or link, in the order of the directory. */
export interface ZipColumns extends ArchiveColumns {
  /** Per link: where in the names its target stands. */
  readonly linkStarts: Uint32Array;
  /** Per record: where the header before its content is. */
  readonly headers: Float64Array;
  /** Per record: bytes that its content takes. */
  readonly packed: Float64Array;
  /** Per record: bytes of its content. */
  readonly sizes: Float64Array;
  /** Per record: the CRC-32 of its content. */
  readonly sums: Uint32Array;
  /** Per record: how its content is written. */
  readonly methods: Uint32Array;
  /** Per record: bytes of its path, as it is stored, and their CRC-32: the header before the content has the same. */
  readonly pathLengths: Uint32Array;
  readonly pathSums: Uint32Array;
}

/** A zip's tables, and what else opening it has told. */
export interface ZipIndex {
  readonly columns: ZipColumns;
  /** The members that are skipped. */
  readonly skipped: SkippedMembers;
}

/** Whether a record's content lies in the zip as it is. */
export function isStored(
  { methods, sizes }: ZipColumns,
  record: number,
): boolean {
  return methods[record] === Method.STORED || sizes[record] === 0;
}

/** Whether a record's content has to be decoded, and can be. */
export function isDecoded(
  { methods, faults }: ZipColumns,
  record: number,
): boolean {
  return methods[record] !== Method.STORED && faults[record] === Fault.NONE;
}

/** Whether all that is in a zip lies there as it is. */
export function areStored(columns: ZipColumns): boolean {
  return columns.methods.every((_, record) => isStored(columns, record));
}
