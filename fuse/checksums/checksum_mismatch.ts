import { FormatError } from "../../src/base/errors.ts";

export function checksumMismatch(
  path: string,
  sample: number,
  expected: number,
  actual: number,
): FormatError {
  return new FormatError(
    "sample-checksum",
    `${path}: checksum mismatch in sample ${sample} (expected ${
      hex(expected)
    }, got ` +
      `${
        hex(actual)
      }): its bytes are not those that were written, so reading it is an I/O ` +
      "error; fetch the file again, or read it as it is with the option `verify: false`",
    { path, sample, expected, actual },
  );
}

function hex(crc: number): string {
  return `0x${crc.toString(16).padStart(8, "0")}`;
}
