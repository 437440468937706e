import { FormatError } from "../../src/base/errors.ts";
import { type NamedOption, optionText } from "../../src/base/named_option.ts";

const UNVERIFIED: NamedOption = { name: "verify", value: false };

export function checksumMismatch(
  path: string,
  sample: number,
  expected: number,
  actual: number,
): FormatError {
  return new FormatError(
    "sample-checksum",
    `Cannot read sample ${sample} of ${path}: checksum mismatch (expected ${
      hex(expected)
    }, got ` +
      `${hex(actual)}): the file is damaged, and reads fail with an I/O ` +
      `error. Download it again, or read it unchecked with ${
        optionText(UNVERIFIED)
      }`,
    { path, sample, expected, actual, namedOptions: [UNVERIFIED] },
  );
}

function hex(crc: number): string {
  return `0x${crc.toString(16).padStart(8, "0")}`;
}
