import { crc32 } from "node:zlib";

/** `node:zlib` takes lengths modulo 2^32 under Deno: longer runs are given to it in pieces. */
const LARGEST = 1 << 30;

/** The CRC-32 (zlib polynomial) of bytes of any length. */
export function crc32Of(bytes: Uint8Array): number {
  let crc = 0;
  for (let done = 0; done < bytes.length; done += LARGEST) {
    crc = crc32(bytes.subarray(done, done + LARGEST), crc);
  }
  return crc;
}
