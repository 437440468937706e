type Crc32 = typeof import("node:zlib").crc32;

/** `node:zlib` under Deno takes lengths modulo 2^32, so longer inputs are split. */
const LARGEST = 1 << 30;

let loaded: Crc32 | undefined;

/** Returns the CRC-32 (zlib polynomial) of bytes of any length, continuing from that of the bytes before. */
export function crc32Of(bytes: Uint8Array, before = 0): number {
  // Loaded lazily, because loading would delay a mount, which answers before it checks, by 20 ms.
  const crc32 = loaded ??= process.getBuiltinModule("node:zlib").crc32;
  if (bytes.byteLength <= LARGEST) return crc32(bytes, before);
  let crc = before;
  for (let done = 0; done < bytes.byteLength; done += LARGEST) {
    crc = crc32(bytes.subarray(done, done + LARGEST), crc);
  }
  return crc;
}
