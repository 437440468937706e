import type { FormatError } from "../../../base/errors.ts";
import { memberError } from "../../../tree/archive/member_error.ts";

/** Why a member cannot be read. Kept in columns: numbers stay what they are. */
export const Fault = {
  NONE: 0,
  OTHER_SPARSE: 1,
  CONTINUED: 2,
  SPARSE_MAP: 3,
  EXTENSION: 4,
  CUT: 5,
} as const;

/** What {@linkcode faultError} says it of. */
export interface FaultyMember {
  readonly archive: string;
  /** Size of the archive in bytes. */
  readonly archiveSize: number;
  readonly name: string;
  readonly fault: number;
  /** Where the content begins. */
  readonly offset: number;
  readonly size: number;
}

/** The error that reading a member with a fault throws. */
export function faultError(member: FaultyMember): FormatError {
  const { archive, name, fault, offset } = member;
  const code = fault <= Fault.CONTINUED
    ? "unreadable-member"
    : fault === Fault.CUT
    ? "truncated-data"
    : "bad-structure";
  return memberError(
    code,
    archive,
    name,
    `cannot be read: it ${whyOf(member)}`,
    { offset },
  );
}

function whyOf({ archiveSize, fault, offset, size }: FaultyMember): string {
  switch (fault) {
    case Fault.OTHER_SPARSE:
      return "has holes that are stored in a way that is not read here. Extract the tar by the program that made it, " +
        "and pack it again";
    case Fault.CONTINUED:
      return "began in another volume. Extract all volumes (tar -xM), and pack that";
    case Fault.SPARSE_MAP:
      return "has a map of holes that is damaged; fetch the tar again";
    case Fault.EXTENSION:
      return "has an extended header before it that is damaged, so that its name, size or content may be others; " +
        "fetch the tar again";
    default:
      return `has ${size} bytes by its header, and the file ends after ${
        Math.max(0, archiveSize - offset)
      } of them: it was cut, or the header lies; fetch it again`;
  }
}
