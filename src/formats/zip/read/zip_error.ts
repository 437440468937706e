import { FormatError, type FormatErrorCode } from "../../../errors.ts";
import { decodeName } from "../../../names.ts";

/** An error about a member of a zip, which the message names. */
export function memberError(
  code: FormatErrorCode,
  path: string,
  name: Uint8Array | string,
  why: string,
  facts: {
    readonly offset?: number;
    readonly cause?: unknown;
    readonly expected?: unknown;
    readonly actual?: unknown;
  } = {},
): FormatError {
  const shown = typeof name === "string" ? name : decodeName(name);
  return new FormatError(code, `${path}: '${shown}' ${why}`, {
    path,
    ...facts,
  });
}
