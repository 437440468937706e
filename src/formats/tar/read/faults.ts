import type { FormatError } from "../../../base/errors.ts";
import type { TarColumns } from "./tar_columns.ts";
import { memberError } from "../../../tree/archive/member_error.ts";

/** Reasons why a member is unreadable. Stored in cached columns: the numbers must not change. */
export const Fault = {
  NONE: 0,
  OTHER_SPARSE: 1,
  CONTINUED: 2,
  SPARSE_MAP: 3,
  EXTENSION: 4,
  CUT: 5,
} as const;

export function faultError(
  { path, size: tarSize, columns }: {
    readonly path: string;
    readonly size: number;
    readonly columns: TarColumns;
  },
  name: string,
  record: number,
): FormatError {
  const fault = columns.faults[record]!;
  const offset = columns.offsets[record]!;
  const size = columns.sizes[record]!;
  const code = fault <= Fault.CONTINUED
    ? "unreadable-member"
    : fault === Fault.CUT
    ? "truncated-data"
    : "bad-structure";
  const there = Math.max(0, tarSize - offset);
  const why = `it ${whyOf(fault, size, there)}`;
  return memberError(code, path, name, why, { offset });
}

/** @param there Number of its bytes that the tar contains. */
function whyOf(fault: number, size: number, there: number): string {
  switch (fault) {
    case Fault.OTHER_SPARSE:
      return "has holes stored in an unsupported way. Extract the tar with the program that " +
        "made it, and pack it again";
    case Fault.CONTINUED:
      return "began in another volume. Extract all volumes (tar -xM), and pack that";
    case Fault.SPARSE_MAP:
      return "has a damaged map of holes. Download the tar again";
    case Fault.EXTENSION:
      return "has a damaged extended header before it, so that its name, size or content may " +
        "be others. Download the tar again";
    default:
      return `has ${size} bytes according to its header, but the file ends after ${there} ` +
        "of them: it is truncated, or the header is damaged. Download it again";
  }
}
