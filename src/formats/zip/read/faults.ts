import type { FormatError } from "../../../base/errors.ts";
import type { ZipColumns } from "./zip_columns.ts";
import { memberError } from "../../../tree/archive/member_error.ts";
import { Flag, Method, methodName, mostInflated, Size } from "../layout.ts";

/** Faults of members that the central directory shows. Columns store the numbers, which must not change. */
export const Fault = {
  NONE: 0,
  ENCRYPTED: 1,
  PATCH: 2,
  METHOD: 3,
  LARGE_ZSTD: 4,
  OUTSIDE: 5,
  STORED_SIZE: 6,
  INFLATED_SIZE: 7,
  NO_SIZE: 8,
  OVERLAPS: 9,
  LINK: 10,
} as const;

/** Limit of zstd contents in bytes: there is no streaming decoder for them, so they are decoded at once. */
const MOST_ZSTD = 64 << 20;

/** A member's content in the central directory. */
export interface ContentFacts {
  readonly flags: number;
  readonly method: number;
  readonly packed: number;
  readonly size: number;
  /** Offset of the local header. */
  readonly header: number;
}

/** Returns the fault of a member, or `Fault.NONE`; contents end at `limit`, where the central directory begins. */
export function faultOf(
  { flags, method, packed, size, header }: ContentFacts,
  limit: number,
): number {
  if (!Number.isSafeInteger(size) || !Number.isSafeInteger(packed)) {
    return Fault.NO_SIZE;
  }
  // The path in the local header may be shorter than in the directory.
  if (!(header >= 0 && header + Size.LOCAL + packed <= limit)) {
    return Fault.OUTSIDE;
  }
  const { ENCRYPTED, STRONG_ENCRYPTION, MASKED, PATCH } = Flag;
  if ((flags & (ENCRYPTED | STRONG_ENCRYPTION | MASKED)) !== 0) {
    return Fault.ENCRYPTED;
  }
  if ((flags & PATCH) !== 0) return Fault.PATCH;
  switch (method) {
    case Method.STORED:
      return size === packed ? Fault.NONE : Fault.STORED_SIZE;
    case Method.DEFLATED:
      return size <= mostInflated(packed) ? Fault.NONE : Fault.INFLATED_SIZE;
    case Method.ZSTD:
      return size <= MOST_ZSTD ? Fault.NONE : Fault.LARGE_ZSTD;
    default:
      return Fault.METHOD;
  }
}

export function faultError(
  archive: string,
  name: string,
  columns: ZipColumns,
  record: number,
): FormatError {
  const isUnsupported = columns.faults[record]! <= Fault.LARGE_ZSTD;
  const offset = columns.headers[record]!;
  return memberError(
    isUnsupported ? "unreadable-member" : "bad-structure",
    archive,
    name,
    `it ${whyOf(columns, record)}`,
    Number.isSafeInteger(offset) ? { offset } : {},
  );
}

function whyOf(columns: ZipColumns, record: number): string {
  const header = columns.headers[record]!;
  const packed = columns.packed[record]!;
  const size = columns.sizes[record]!;
  switch (columns.faults[record]) {
    case Fault.ENCRYPTED:
      return "is encrypted. Extract the zip with its password, and pack it again without one";
    case Fault.PATCH:
      return "is a patch. Extract the zip with the program that made it, and pack it again";
    case Fault.METHOD:
      return `is compressed by ${
        methodName(columns.methods[record]!)
      }, which is ` +
        "unsupported. Extract the zip, and pack it again (zip -0)";
    case Fault.LARGE_ZSTD:
      return `is compressed by zstd and has ${size} bytes, more than the limit ` +
        `of ${MOST_ZSTD}. Extract the zip, and pack it again (zip -0)`;
    case Fault.OUTSIDE:
      return Number.isSafeInteger(header)
        ? `is out of bounds: according to the central directory it has ` +
          `${packed} bytes from byte ${header} on, but the directory begins before their end: ` +
          "the zip is truncated or damaged. Download it again"
        : "has no valid offset in the central directory: the zip is damaged. Download it again";
    case Fault.STORED_SIZE:
      return `is stored, but has ${size} bytes in ${packed} according to ` +
        "the central directory: the zip is damaged. Download it again";
    case Fault.INFLATED_SIZE:
      return `has ${size} bytes according to the central directory, ` +
        `more than its ${packed} can inflate to: the zip is damaged. Download it again`;
    case Fault.NO_SIZE:
      return "has no valid size in the central directory: the zip is damaged. Download it again";
    case Fault.OVERLAPS:
      return "overlaps another member according to the central directory: the zip is damaged, or a zip bomb";
    default:
      return "is a symbolic link whose target is damaged. Download the zip again";
  }
}
