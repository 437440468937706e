import type { FormatError } from "../../base/errors.ts";
import { memberError } from "../archive/member_error.ts";
import { numberedNames } from "../names/numbered_names.ts";

/** Record after a file's sound ones, which is cut or cannot be found: plain data, for other threads. */
export interface Cut {
  readonly code: FormatError["code"];
  /** Why, after `Cannot read …:`. */
  readonly why: string;
  /** Offset at which it starts. */
  readonly offset: number;
  /** Bytes that it would have, as far as that is known; otherwise 0. */
  readonly size: number;
  readonly expected?: number;
  readonly actual?: number;
}

/** Makes the error for reading a cut record; `suffix` is that of record names. */
export function cutError(
  path: string,
  record: number,
  { code, why, offset, expected, actual }: Cut,
  suffix: string,
): FormatError {
  const names = numberedNames(record + 1, suffix);
  const name = new Uint8Array(names.maxLength);
  const member = name.subarray(0, names.write(record, name));
  const facts = { offset, expected, actual, sample: record };
  return memberError(code, path, member, why, facts);
}
