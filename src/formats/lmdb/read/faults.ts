import type { FormatError } from "../../../base/errors.ts";
import { memberError } from "../../../tree/archive/member_error.ts";

/** Why a value cannot be read, as stored in the columns. */
export const Fault = {
  NONE: 0,
  OUTSIDE: 1,
  PAGE: 2,
  SHARED: 3,
  TWICE: 4,
} as const;

/** Makes the error for reading a value that cannot be read. */
export function faultError(
  path: string,
  name: string,
  fault: number,
  offset: number,
): FormatError {
  if (fault === Fault.OUTSIDE) {
    const why = "the file ends before it: it was truncated. Download it again";
    return memberError("truncated-data", path, name, why, { offset });
  }
  const why = fault === Fault.PAGE
    ? "its page is not one of the database"
    : fault === Fault.SHARED
    ? "its pages belong to something else as well"
    : "another value of the file has its key";
  return memberError(
    "bad-structure",
    path,
    name,
    `${why}: the database is damaged. Download it again`,
    { offset },
  );
}
