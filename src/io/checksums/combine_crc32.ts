import type { ChecksumKind } from "./checksum.ts";
import { CRC32C_POLYNOMIAL } from "./crc32c.ts";

/** The CRC-32 polynomial of zlib, bit-reversed (RFC 1952, section 8). */
const POLYNOMIAL = 0xedb88320;

/**
 * Combines the checksums of two consecutive runs of bytes, so that threads can share a long run. A checksum is a
 * polynomial over bits. That of the first run is multiplied by x to the number of bits of the second, which has
 * `length` bytes.
 */
export function combineCrc32(
  kind: ChecksumKind,
  first: number,
  second: number,
  length: number,
): number {
  const polynomial = kind === "crc32c" ? CRC32C_POLYNOMIAL : POLYNOMIAL;
  let power = 0x8000_0000; // 1: the highest bit is x to the power of 0
  let square = 0x0080_0000; // x to the power of 8, a byte
  for (let rest = length; rest > 0; rest = Math.floor(rest / 2)) {
    if (rest % 2 === 1) power = multiply(power, square, polynomial);
    square = multiply(square, square, polynomial);
  }
  return (multiply(first, power, polynomial) ^ second) >>> 0;
}

/** Multiplies two polynomials modulo a third. */
function multiply(a: number, b: number, polynomial: number): number {
  let product = 0;
  let shifted = b;
  for (let bit = 31; bit >= 0; bit--) {
    if ((a >>> bit) & 1) product ^= shifted;
    shifted = shifted & 1 ? (shifted >>> 1) ^ polynomial : shifted >>> 1;
  }
  return product >>> 0;
}
