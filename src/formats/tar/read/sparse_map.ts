/**
 * Maps of sparse files: GNU's old header, and its extended headers of versions 0.0, 0.1 and 1.0 (GNU tar, "Storing
 * Sparse Files"). libarchive writes the last one.
 *
 * @module
 */
import { perform, type Steps } from "../../../io/concurrency/steps.ts";
import { yieldWhenDue } from "../../../io/concurrency/event_loop.ts";
import { readPart } from "../../../io/read/read_part.ts";
import type { ByteSource } from "../../../io/storage/byte_source.ts";
import { padded, TAR_BLOCK } from "../../../base/tar_header.ts";
import { parseNumber } from "../layout.ts";
import type { PaxSparse } from "./pax.ts";

/** Maximum number of data ranges of a file. */
const MOST_PIECES = 1 << 20;
/** Maximum bytes of a map before the data: two numbers of 16 digits per range. */
const LONGEST_MAP = 34 * MOST_PIECES;

/** Offsets in the old header and its extension blocks. */
const Old = {
  MAP: 386,
  PIECES: 4,
  GOES_ON: 482,
  SIZE: 483,
  EXTENDED_PIECES: 21,
  EXTENDED_GOES_ON: 504,
} as const;
/** Bytes of a number in the old header. */
const DIGITS = 12;

/** Data of a sparse file. */
export interface SparseMap {
  /** Alternating offsets and lengths in the file, ascending, without empty ranges. */
  readonly pieces: readonly number[];
  /** Size of the file in bytes, including holes; NaN if damaged. */
  readonly size: number;
  /** Offset of the data in the tar, where the ranges are consecutive. */
  readonly start: number;
  /** Whether the map is valid. */
  readonly isSound: boolean;
}

/**
 * Reads the map of GNU's old header and its extension blocks.
 *
 * @param bytes Contains the header at `at`.
 * @param content Offset of the block after the header.
 * @param stored Bytes of data.
 */
export function* readOldMap(
  source: ByteSource,
  bytes: Uint8Array,
  at: number,
  content: number,
  stored: number,
): Steps<SparseMap> {
  const size = parseNumber(bytes, at + Old.SIZE, DIGITS);
  const numbers: number[] = [];
  let start = content;
  let isWhole = takeOld(bytes, at + Old.MAP, Old.PIECES, numbers);
  let goesOn = isWhole && bytes[at + Old.GOES_ON] !== 0;
  while (goesOn) {
    if (start + TAR_BLOCK > source.size || numbers.length / 2 > MOST_PIECES) {
      isWhole = false;
      break;
    }
    const block = yield* readPart(source, start, TAR_BLOCK);
    yield* perform(yieldWhenDue);
    start += TAR_BLOCK;
    isWhole = takeOld(block, 0, Old.EXTENDED_PIECES, numbers);
    goesOn = isWhole && block[Old.EXTENDED_GOES_ON] !== 0;
  }
  return sparseMap(numbers, size, start, stored, isWhole);
}

/** Reads numbers up to the first unused entry. Returns whether all are valid. */
function takeOld(
  bytes: Uint8Array,
  at: number,
  pieces: number,
  into: number[],
): boolean {
  for (let i = 0; i < pieces; i++, at += 2 * DIGITS) {
    if (bytes[at] === 0 || bytes[at + DIGITS] === 0) return true;
    const offset = parseNumber(bytes, at, DIGITS);
    const length = parseNumber(bytes, at + DIGITS, DIGITS);
    if (!(offset >= 0 && length >= 0)) return false;
    into.push(offset, length);
  }
  return true;
}

/**
 * Reads the map of extended headers.
 *
 * @param content Offset of the member's content.
 * @param stored Bytes of that content.
 * @returns `undefined` if the version is unknown.
 */
export function* readPaxMap(
  source: ByteSource,
  { map, major, minor = 0, size = NaN }: PaxSparse,
  content: number,
  stored: number,
): Steps<SparseMap | undefined> {
  if (major === undefined || major === 0) {
    return sparseMap(map ?? [], size, content, stored, map !== undefined);
  }
  if (major !== 1 || minor !== 0) return undefined;
  const numbers: number[] = [];
  const past = Math.min(content + stored, source.size);
  const longest = Math.min(past - content, LONGEST_MAP);
  let wanted = 1; // the number of ranges
  let digits = 0;
  let number = 0;
  for (let at = 0; numbers.length < wanted;) {
    const length = Math.min(Math.max(TAR_BLOCK, at), longest - at);
    if (length <= 0) return sparseMap([], size, content, stored, false);
    const bytes = yield* readPart(source, content + at, length);
    yield* perform(yieldWhenDue);
    for (let i = 0; i < length && numbers.length < wanted; i++, at++) {
      const digit = bytes[i]! - 0x30;
      if (digit >= 0 && digit <= 9 && digits < 16) {
        number = number * 10 + digit;
        digits++;
      } else if (bytes[i] === 0x0a && digits > 0) {
        if (numbers.length === 0) wanted = 1 + 2 * number;
        numbers.push(number);
        [number, digits] = [0, 0];
      } else return sparseMap([], size, content, stored, false);
    }
    if (wanted > 1 + 2 * MOST_PIECES) break;
    if (numbers.length === wanted) {
      const start = content + padded(at);
      const left = stored - padded(at);
      return sparseMap(numbers.slice(1), size, start, left, true);
    }
  }
  return sparseMap([], size, content, stored, false);
}

/** Validates a map: ranges must ascend and end within the file, and account for all of the data. */
function sparseMap(
  numbers: readonly number[],
  size: number,
  start: number,
  stored: number,
  isWhole: boolean,
): SparseMap {
  const pieces: number[] = [];
  let [end, sum] = [0, 0];
  let isSound = isWhole && size >= 0 && numbers.length % 2 === 0;
  for (let i = 0; i < numbers.length && isSound; i += 2) {
    const [offset, length] = [numbers[i]!, numbers[i + 1]!];
    isSound = offset >= end && offset + length <= size;
    end = offset + length;
    sum += length;
    if (length > 0) pieces.push(offset, length);
  }
  // Some programs count the padding of the last block.
  isSound &&= stored === sum || stored === padded(sum);
  return { pieces: isSound ? pieces : [], size, start, isSound };
}
