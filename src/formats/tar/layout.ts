import { utf8Text } from "../../base/utf8.ts";
/**
 * Physical layout of tars: blocks of 512 bytes; each member starts with a header block.
 *
 * @module
 */
import { Field, Length, TAR_BLOCK } from "../../base/tar_header.ts";

const SPACE = 0x20;
const ZERO = 0x30;

/** `ustar`: magic of POSIX and GNU headers, missing in Unix V7 headers. */
const USTAR = [0x75, 0x73, 0x74, 0x61, 0x72];

export type Flavour = "gnu" | "posix" | "v7";

/** Detects the variant of the header at an offset. */
export function flavourOf(bytes: Uint8Array, at: number): Flavour {
  const magic = at + Field.MAGIC;
  for (let i = 0; i < USTAR.length; i++) {
    if (bytes[magic + i] !== USTAR[i]) return "v7";
  }
  return bytes[magic + USTAR.length] === 0 ? "posix" : "gnu";
}

/** Memory of blocks as bytes and as 32-bit words; it must start at a multiple of 4. */
export interface Blocks {
  readonly bytes: Uint8Array;
  readonly words: Int32Array;
}

export function blocksOf(bytes: Uint8Array): Blocks {
  const { buffer, byteOffset, length } = bytes;
  return { bytes, words: new Int32Array(buffer, byteOffset, length >>> 2) };
}

export function isZeroBlock({ bytes, words }: Blocks, at: number): boolean {
  if (bytes[at] !== 0) return false;
  const first = at >>> 2;
  for (let i = first; i < first + TAR_BLOCK / 4; i++) {
    if (words[i] !== 0) return false;
  }
  return true;
}

/**
 * Whether a block's checksum is valid: the sum of its bytes, with the checksum field as spaces. Also accepts sums of
 * signed bytes, which some old programs write.
 */
export function hasChecksum(blocks: Blocks, at: number): boolean {
  const { bytes } = blocks;
  const wanted = parseNumber(
    bytes,
    at + Field.CHECKSUM,
    Length.CHECKSUM,
  );
  if (!(wanted > 0)) return false;
  const checksum = at + Field.CHECKSUM;
  let field = 0;
  for (let i = 0; i < Length.CHECKSUM; i++) field += bytes[checksum + i]!;
  const sum = sumOf(blocks, at) - field + Length.CHECKSUM * SPACE;
  if (sum === wanted) return true;
  let negative = 0;
  for (let i = at; i < at + TAR_BLOCK; i++) {
    if (i === checksum) i += Length.CHECKSUM;
    if (bytes[i]! >= 0x80) negative++;
  }
  return negative > 0 && sum - 256 * negative === wanted;
}

/** Returns a hash of a header block, to detect changes; never 0. */
export function headOf({ words }: Blocks, at: number): number {
  let hash = 0x811c9dc5;
  const first = at >>> 2;
  for (let i = first; i < first + TAR_BLOCK / 4; i++) {
    hash = Math.imul(hash ^ words[i]!, 0x01000193);
    hash ^= hash >>> 15;
  }
  return hash >>> 0 || 1;
}

/** Sums a block's bytes, four at a time, in two 16-bit lanes that 512 bytes cannot overflow. */
function sumOf({ words }: Blocks, at: number): number {
  let sums = 0;
  const first = at >>> 2;
  for (let i = first; i < first + TAR_BLOCK / 4; i++) {
    const word = words[i]!;
    sums = sums + (word & 0x00ff00ff) + (word >>> 8 & 0x00ff00ff) | 0;
  }
  return (sums & 0xffff) + (sums >>> 16);
}

/** Parses a number: octal, or base 256 if the first bit is set (GNU, star); NaN if invalid or not exact. */
export function parseNumber(
  bytes: Uint8Array,
  start: number,
  length: number,
): number {
  const end = start + length;
  const first = bytes[start]!;
  if (first >= 0x80) return parseBase256(bytes, start, end);
  let at = start;
  while (at < end && bytes[at] === SPACE) at++;
  let number = 0;
  for (; at < end; at++) {
    const digit = bytes[at]! - ZERO;
    if (digit >= 0 && digit < 8) number = number * 8 + digit;
    else if (bytes[at] === 0 || bytes[at] === SPACE) break;
    else return NaN;
  }
  return number;
}

function parseBase256(bytes: Uint8Array, start: number, end: number): number {
  const isNegative = (bytes[start]! & 0x40) !== 0;
  let number = isNegative ? -1 - (~bytes[start]! & 0x3f) : bytes[start]! & 0x3f;
  for (let at = start + 1; at < end; at++) number = number * 256 + bytes[at]!;
  return Number.isSafeInteger(number) ? number : NaN;
}

/** Returns the end of a text field: its first NUL, or the end of the field. */
export function textEnd(
  bytes: Uint8Array,
  start: number,
  length: number,
): number {
  const end = start + length;
  for (let at = start; at < end; at++) if (bytes[at] === 0) return at;
  return end;
}

/** Maximum seconds of a time from 1970: the range of `Date`. */
export const MOST_SECONDS = 8.64e12;

/** Whether a name is that of a shard. */
export function isShard(name: string): boolean {
  return name.endsWith(".tar");
}

/** Whether a file may be an index of wids by its name. */
export function isWidsName(path: string): boolean {
  return /\.json$/i.test(path);
}

/** Whether a JSON file begins like an index of wids: what its writer puts first, or a description by hand. */
export function isWidsHead(head: Uint8Array): boolean {
  return /^\s*\{\s*("__kind__"\s*:\s*"wids-shard-index-v1"|[^\0]*"wids_version"\s*:)/
    .test(utf8Text(head));
}
