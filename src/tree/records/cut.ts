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

/**
 * Describes a record of text inside which a file ends.
 *
 * @param unit Word for a record.
 * @param why What it lacks.
 */
export function endsInside(
  unit: string,
  number: number,
  { start, end }: { readonly start: number; readonly end: number },
  size: number,
  why: string,
): Cut {
  return {
    code: "truncated-data",
    why: `the file ends at byte ${size}, inside ${unit} ${number}, which ` +
      `starts at ${start}: ${why}. It is truncated, or its writer was ` +
      "stopped. Download or write it again",
    offset: start,
    size: end - start,
  };
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
