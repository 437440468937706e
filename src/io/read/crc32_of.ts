type Crc32 = typeof import("node:zlib").crc32;

/** `node:zlib` takes lengths modulo 2^32 under Deno: longer runs are given to it in pieces. */
const LARGEST = 1 << 30;

let loaded: Crc32 | undefined;

/**
 * The CRC-32 (zlib polynomial) of bytes of any length.
 *
 * @param before The CRC-32 of what comes before them, where they go on from that.
 */
export function crc32Of(bytes: Uint8Array, before = 0): number {
  // Loaded when it is needed: a mount, which answers before it checks, would be 20 ms later.
  const crc32 = loaded ??= process.getBuiltinModule("node:zlib").crc32;
  if (bytes.byteLength <= LARGEST) return crc32(bytes, before);
  let crc = before;
  for (let done = 0; done < bytes.byteLength; done += LARGEST) {
    crc = crc32(bytes.subarray(done, done + LARGEST), crc);
  }
  return crc;
}
