import { FormatError } from "../errors.ts";
import { crc32Of } from "../io/crc32_of.ts";

/**
 * Compares a file's content, or its CRC-32, with the checksum that the container records.
 *
 * @param expected The recorded CRC-32, or -1 where there is none.
 * @throws {FormatError} If they differ.
 */
export function verifyContent(
  container: string,
  path: string,
  content: Uint8Array | number,
  expected: number,
): void {
  if (expected < 0) return;
  const actual = typeof content === "number" ? content : crc32Of(content);
  if (actual === expected) return;
  throw new FormatError(
    "sample-checksum",
    `${container}: checksum mismatch in '${path}': its bytes are not those ` +
      `that were written; fetch the container again, or turn checksums off ` +
      `to read it as it is`,
    { path, expected, actual },
  );
}
