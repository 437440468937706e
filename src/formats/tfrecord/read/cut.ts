import { FormatError } from "../../../base/errors.ts";
import type { Cut } from "../../../tree/records/cut.ts";

/** Whether the first length of a file is wrong, so that it is not TFRecord. */
export function isNone({ code, offset }: Cut): boolean {
  return code === "metadata-checksum" && offset === 0;
}

/** Makes the error for a file whose first length is wrong. */
export function noneError(path: string): FormatError {
  return new FormatError(
    "metadata-checksum",
    `Cannot read ${path}: checksum mismatch in its first length: it is ` +
      "damaged, or not a TFRecord file. Download it again",
    { path, offset: 0, sample: 0 },
  );
}
