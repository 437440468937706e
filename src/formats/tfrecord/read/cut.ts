import { FormatError } from "../../../base/errors.ts";
import { memberError } from "../../../tree/archive/member_error.ts";
import { numberedNames } from "../../../tree/names/numbered_names.ts";

/** Record after a file's sound ones, which is cut or cannot be found: plain data, for other threads. */
export interface Cut {
  /** `metadata-checksum` if its length is wrong; otherwise says how much of it exists. */
  readonly code: FormatError["code"];
  readonly why: string;
  /** Offset of its length. */
  readonly offset: number;
  /** Bytes of its data by its length; 0 if unknown. */
  readonly size: number;
  readonly expected?: number;
  readonly actual?: number;
}

/** Whether the first length of a file is wrong, so that it is not TFRecord. */
export function isNone({ code, offset }: Cut): boolean {
  return code === "metadata-checksum" && offset === 0;
}

/** Makes the error for reading a cut record; `suffix` is that of record names. */
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
      `Cannot read ${path}: checksum mismatch in its first length: it is ` +
        "damaged, or not a TFRecord file. Download it again",
      { path, offset, sample: record },
    );
  }
  const names = numberedNames(record + 1, suffix);
  const name = new Uint8Array(names.maxLength);
  const member = name.subarray(0, names.write(record, name));
  const facts = { offset, expected, actual, sample: record };
  return memberError(code, path, member, why, facts);
}
