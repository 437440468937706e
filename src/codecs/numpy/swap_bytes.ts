import { Buffer } from "node:buffer";

/**
 * Turns round the bytes of each unit, in place.
 *
 * @param unit 1, 2, 4 or 8.
 */
export function swapBytes(bytes: Uint8Array, unit: number): Uint8Array {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  if (unit === 2) buffer.swap16();
  else if (unit === 4) buffer.swap32();
  else if (unit === 8) buffer.swap64();
  return bytes;
}
