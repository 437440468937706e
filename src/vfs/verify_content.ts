import { FormatError } from "../errors.ts";

/**
 * Compares the CRC-32 of a file's content with the one that the container records.
 *
 * @param expected The recorded CRC-32, or -1 where there is none.
 * @throws {FormatError} If they differ.
 */
export function verifyContent(
  container: string,
  path: string,
  actual: number,
  expected: number,
): void {
  if (expected < 0 || actual === expected) return;
  throw new FormatError(
    "sample-checksum",
    `${container}: checksum mismatch in '${path}': its bytes are not those ` +
      "that were written; fetch the container again, or read it as it is with the option " +
      "`checkData: false`",
    { path, expected, actual },
  );
}
