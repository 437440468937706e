/**
 * Where the data of files with holes stands in a tar: GNU's old header, and its extended headers of versions 0.0, 0.1
 * and 1.0 (GNU tar, "Storing Sparse Files"). Programs of libarchive write the last one.
 *
 * @module
 */
import { perform, type Steps } from "../../../io/concurrency/steps.ts";
import { yieldWhenDue } from "../../../io/concurrency/event_loop.ts";
import { readPart } from "../../../io/read/read_part.ts";
import type { ByteSource } from "../../../io/storage/byte_source.ts";
import { BLOCK, padded } from "../../../base/tar_header.ts";
import { parseNumber } from "../layout.ts";
import type { PaxSparse } from "./pax.ts";

/** Most pieces of data of one file. */
const MOST_PIECES = 1 << 20;
/** Longest map before the data, in bytes: two numbers of 16 digits a piece. */
const LONGEST_MAP = 34 * MOST_PIECES;

/** Where the old header has its map, and the blocks behind it. */
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

/** The data of a file with holes. */
export interface SparseMap {
  /** Offset and length in the file, piece by piece, ascending. Pieces without bytes are left out. */
  readonly pieces: readonly number[];
  /** Size of the file in bytes, holes included; NaN where the map is damaged so far. */
  readonly size: number;
  /** Where the data begins in the tar: the pieces lie there one behind the other. */
  readonly start: number;
  /** Whether the pieces are those of such a file. */
  readonly isSound: boolean;
}

/**
 * Reads the map of GNU's old header, and of the blocks behind it.
 *
 * @param bytes Has the header, from `at` on.
 * @param content Where the block behind the header begins.
 * @param stored Bytes of the data.
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
    if (start + BLOCK > source.size || numbers.length / 2 > MOST_PIECES) {
      isWhole = false;
      break;
    }
    const block = yield* readPart(source, start, BLOCK);
    yield* perform(yieldWhenDue);
    start += BLOCK;
    isWhole = takeOld(block, 0, Old.EXTENDED_PIECES, numbers);
    goesOn = isWhole && block[Old.EXTENDED_GOES_ON] !== 0;
  }
  return sparseMap(numbers, size, start, stored, isWhole);
}

/** Takes numbers up to the first piece that is none; whether all are numbers. */
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
 * Reads the map that extended headers tell of.
 *
 * @param content Where the content of the member begins.
 * @param stored Bytes of that content.
 * @returns `undefined` where it is of a version that is not known.
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
  let wanted = 1; // the number of pieces
  let digits = 0;
  let number = 0;
  for (let at = 0; numbers.length < wanted;) {
    const length = Math.min(Math.max(BLOCK, at), longest - at);
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

/** Pieces have to ascend and to end within the file, and all of the data has to be theirs. */
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
  // Some programs count the bytes that fill the last block.
  isSound &&= stored === sum || stored === padded(sum);
  return { pieces: isSound ? pieces : [], size, start, isSound };
}
