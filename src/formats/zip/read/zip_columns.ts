import type { ArchiveColumns } from "../../../tree/archive/archive_tree.ts";
import type { SkippedMembers } from "../../../tree/archive/archive_notes.ts";
import { Fault } from "./faults.ts";
import { Method } from "../layout.ts";

/** Tables of a zip in shared memory. A record is a file or link, in directory order. */
export interface ZipColumns extends ArchiveColumns {
  /** Per link: start of its target in the names. */
  readonly linkStarts: Uint32Array;
  /** Per record: offset of its local header. */
  readonly headers: Float64Array;
  /** Per record: packed bytes of its content. */
  readonly packed: Float64Array;
  /** Per record: bytes of its content. */
  readonly sizes: Float64Array;
  /** Per record: CRC-32 of its content. */
  readonly sums: Uint32Array;
  /** Per record: compression method. */
  readonly methods: Uint32Array;
  /** Per record: bytes of its path as stored, and their CRC-32; the local header has the same. */
  readonly pathLengths: Uint32Array;
  readonly pathSums: Uint32Array;
}

/** Tables of a zip, and other results of opening it. */
export interface ZipIndex {
  readonly columns: ZipColumns;
  readonly skipped: SkippedMembers;
}

/** Whether a record's content is stored uncompressed. */
export function isStored(
  { methods, sizes }: ZipColumns,
  record: number,
): boolean {
  return methods[record] === Method.STORED || sizes[record] === 0;
}

/** Whether a record's content must be decoded, and can be. */
export function isDecoded(
  { methods, faults }: ZipColumns,
  record: number,
): boolean {
  return methods[record] !== Method.STORED && faults[record] === Fault.NONE;
}

/** Whether all contents are stored uncompressed. */
export function areStored(columns: ZipColumns): boolean {
  return columns.methods.every((_, record) => isStored(columns, record));
}
