import type { FormatError } from "../../base/errors.ts";
import { memberError } from "../archive/member_error.ts";

/** Why a value cannot be read, as stored in columns. */
export const KeyFault = {
  NONE: 0,
  /** The file ends before it. */
  CUT: 1,
  /** It has no location in the store. */
  NOWHERE: 2,
  /** Its bytes belong to something else as well. */
  SHARED: 3,
  /** Another value has its path. */
  TWICE: 4,
} as const;

const REASONS = [
  "",
  "the file ends before it: it was truncated",
  "its location is not in the database, which is damaged",
  "its bytes belong to something else as well: the database is damaged",
  "another value has its key: the database is damaged",
];

/** Makes the error for reading a value that cannot be read. */
export function keyFaultError(
  path: string,
  name: string,
  fault: number,
  offset: number,
): FormatError {
  const code = fault === KeyFault.CUT ? "truncated-data" : "bad-structure";
  const why = `${REASONS[fault]}. Download it again`;
  return memberError(code, path, name, why, { offset });
}
