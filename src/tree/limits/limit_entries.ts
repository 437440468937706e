import { FormatError } from "../../base/errors.ts";

/** Bytes of an index entry: a little-endian u64, the end of a record. */
export const ENTRY = 8;

/** Reads the u64 at a byte offset, which need not be aligned. Beyond 2^53 it is inexact, but larger than any file. */
export function readEntry(bytes: Uint8Array, at: number): number {
  const low = bytes[at]! | bytes[at + 1]! << 8 | bytes[at + 2]! << 16 |
    bytes[at + 3]! << 24;
  const high = bytes[at + 4]! | bytes[at + 5]! << 8 | bytes[at + 6]! << 16 |
    bytes[at + 7]! << 24;
  return (high >>> 0) * 0x1_0000_0000 + (low >>> 0);
}

export function writeEntry(bytes: Uint8Array, end: number): void {
  const high = Math.floor(end / 0x1_0000_0000);
  for (let i = 0; i < 4; i++) {
    bytes[i] = end >>> 8 * i; // modulo 2^32
    bytes[4 + i] = high >>> 8 * i;
  }
}

/** File of records whose ends a table lists. */
interface IndexedFile {
  readonly path: string;
  readonly dataEnd: number;
  /** Word for the file in messages. */
  readonly unit: string;
}

/** Returns the message for a record that ends past its file. */
export function pastEnd(end: number, { dataEnd, unit }: IndexedFile): string {
  return `limit out of range: the index points past the end of the ${unit}, to byte ${end} of ${dataEnd}: the ${unit} is ` +
    "truncated, or the index is damaged";
}

/**
 * Checks that a record lies inside its file; throws `bad-index` otherwise.
 *
 * @param start End of the previous record.
 * @param before Start of the previous record, if any. An end that is too low shows in the record that it ends; in the
 * next record, it shows only by comparison with this.
 */
export function checkLimits(
  file: IndexedFile,
  record: number,
  start: number,
  end: number,
  before = 0,
): void {
  const { path, dataEnd } = file;
  const descends = before > start && before <= dataEnd; // past the end, `before` itself is wrong
  if (!descends && start <= end && end <= dataEnd) return;
  const last = Math.max(start, end);
  const what = last > dataEnd
    ? pastEnd(last, file)
    : start > end
    ? `limits descend: the index is not monotonic, it starts at ${start} and ends at ${end}`
    : `limits descend: the index is not monotonic, it starts at ${start} and the record before at ${before}`;
  throw new FormatError(
    "bad-index",
    `Cannot read record ${record} of ${path}: ${what}`,
    {
      path,
      sample: record,
      expected: dataEnd,
      actual: end,
    },
  );
}

/**
 * Throws `truncated` if record bytes were mistaken for a page of the index because the true end of the file is lost. A
 * single damaged limit passes, since it affects two records at most.
 *
 * @param first Index of the first entry of `page`.
 * @param otherwise Other possible causes, for the message.
 */
export function checkIndexPage(
  file: IndexedFile,
  page: Uint8Array,
  first: number,
  otherwise: string,
): void {
  const { path, dataEnd } = file;
  let before = 0;
  let beforeZero = 0;
  let faults = 0;
  for (let at = 0; at < page.length; at += ENTRY) {
    const end = readEntry(page, at);
    const isPast = end > dataEnd;
    if (isPast || end < before) faults++;
    const isFirst = at === 0 && first === 0;
    // Numbers that restart from 0 are another index; a single 0 is a damaged limit.
    const startsAgain = end > 0 && end < beforeZero;
    if (isFirst && isPast || startsAgain || faults > 2) {
      throw new FormatError(
        "truncated",
        `Cannot read ${path}: the last limit does not mark the start of the ` +
          "index: record bytes are taken for index entries (entry " +
          `${first + at / ENTRY} is ${end}). The file is truncated or ` +
          `damaged${otherwise}`,
        { path, expected: dataEnd, actual: end },
      );
    }
    beforeZero = end === 0 ? Math.max(before, beforeZero) : 0;
    before = end;
  }
}
