import { crc32Of } from "../read/crc32_of.ts";
import { crc32cLoaded, crc32cOf } from "./crc32c.ts";
import type { Steps } from "../concurrency/steps.ts";

/** Kind of checksum: CRC-32 (zlib polynomial) or CRC-32C (Castagnoli). Both are 0 for no bytes. */
export type ChecksumKind = "crc32" | "crc32c";

/** Computes the checksum of bytes, continuing from that of the bytes before. */
export type ChecksumOf = (bytes: Uint8Array, before?: number) => number;

/** Returns the checksum function of a kind. That of CRC-32C must have been loaded. */
export function checksumOf(kind: ChecksumKind): ChecksumOf {
  return kind === "crc32c" ? crc32cOf : crc32Of;
}

export function* checksumLoaded(kind: ChecksumKind): Steps<void> {
  if (kind === "crc32c") yield* crc32cLoaded();
}
