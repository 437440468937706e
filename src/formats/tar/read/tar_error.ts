import { FormatError, type FormatErrorCode } from "../../../errors.ts";
import { decodeName } from "../../../names.ts";

/** An error about a member of a tar, which the message names. */
export function memberError(
  code: FormatErrorCode,
  path: string,
  name: Uint8Array | string,
  why: string,
  offset?: number,
): FormatError {
  const shown = typeof name === "string" ? name : decodeName(name);
  return new FormatError(code, `${path}: '${shown}' ${why}`, { path, offset });
}
