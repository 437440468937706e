import { crc32Of } from "../read/crc32_of.ts";
import { crc32cLoaded, crc32cOf } from "./crc32c.ts";
import type { Steps } from "../concurrency/steps.ts";

/**
 * What is added to a CRC-32C, so that one number says what a checksum is and of which kind: below this it is a CRC-32
 * (zlib polynomial), from here on a CRC-32C, and below 0 there is none.
 */
export const CRC32C = 2 ** 32;

/** Takes the checksum of bytes, going on from that of those before them. */
export type ContentSum = (bytes: Uint8Array, before?: number) => number;

/** What takes a checksum of the kind of one that is expected: that of the zlib polynomial unless it is another. */
export function sumLike(expected: number | undefined): ContentSum {
  return expected !== undefined && expected >= CRC32C ? taggedCrc32c : crc32Of;
}

/** The checksum of no bytes, of the kind of one that is expected. */
export function emptySum(expected: number): number {
  return expected >= CRC32C ? CRC32C : 0;
}

/** A checksum without what says of which kind it is, for messages. */
export function bareSum(sum: number): number {
  return sum >>> 0;
}

/** Loads what takes checksums of the kind of one that is expected. */
export function* sumLoaded(expected: number): Steps<void> {
  if (expected >= CRC32C) yield* crc32cLoaded();
}

function taggedCrc32c(bytes: Uint8Array, before = 0): number {
  return CRC32C + crc32cOf(bytes, bareSum(before));
}
