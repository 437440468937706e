import { FormatError, type FormatErrorCode } from "../../../base/errors.ts";
import { memberError } from "../../../tree/archive/member_error.ts";
import { numberedNames } from "../../../tree/names/numbered_names.ts";

/** The record that a file's sound ones end before, which is cut or cannot be found: plain data, for other threads. */
export interface Cut {
  /** `metadata-checksum` where its length is wrong, and otherwise how far it is there. */
  readonly code: FormatErrorCode;
  readonly why: string;
  /** Where its length starts. */
  readonly offset: number;
  /** Bytes of its data by its length; 0 where that is not known. */
  readonly size: number;
  readonly expected?: number;
  readonly actual?: number;
}

/** Whether a file begins with a wrong length, so that it is no TFRecord. */
export function isNone({ code, offset }: Cut): boolean {
  return code === "metadata-checksum" && offset === 0;
}

/**
 * Makes the error that reading a cut record throws.
 *
 * @param record Its number in the file.
 * @param suffix Ending of the names of records.
 */
export function cutError(
  path: string,
  record: number,
  cut: Cut,
  suffix: string,
): FormatError {
  const { code, why, offset, expected, actual } = cut;
  if (isNone(cut)) {
    return new FormatError(
      code,
      `${path} is no TFRecord file, or is damaged: its first length does not have its checksum; fetch it again`,
      { path, offset, sample: record },
    );
  }
  const names = numberedNames(record + 1, suffix);
  const name = new Uint8Array(names.maxLength);
  const member = name.subarray(0, names.write(record, name));
  const facts = { offset, expected, actual, sample: record };
  return memberError(code, path, member, `cannot be read: ${why}`, facts);
}
