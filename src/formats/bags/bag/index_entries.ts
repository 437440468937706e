import { FormatError } from "../../../base/errors.ts";

/** Bytes of an entry of an index: a little-endian u64, the end of a record. */
export const ENTRY = 8;

/**
 * Reads the u64 at a byte offset; beyond 2^53 it is not exact, but larger than any file.
 *
 * Bytes are put together one by one, so that any offset will do.
 */
export function readEntry(bytes: Uint8Array, at: number): number {
  const low = bytes[at]! | bytes[at + 1]! << 8 | bytes[at + 2]! << 16 |
    bytes[at + 3]! << 24;
  const high = bytes[at + 4]! | bytes[at + 5]! << 8 | bytes[at + 6]! << 16 |
    bytes[at + 7]! << 24;
  return (high >>> 0) * 0x1_0000_0000 + (low >>> 0);
}

/** Writes an entry at the start of `bytes`. */
export function writeEntry(bytes: Uint8Array, end: number): void {
  const high = Math.floor(end / 0x1_0000_0000);
  for (let i = 0; i < 4; i++) {
    bytes[i] = end >>> 8 * i; // modulo 2^32
    bytes[4 + i] = high >>> 8 * i;
  }
}

/** A bag, as messages about its index need it. */
interface IndexedBag {
  readonly path: string;
  readonly dataEnd: number;
}

/** Says of a record that it ends behind its bag. */
export function pastEnd(end: number, dataEnd: number): string {
  return `limit out of range: the index points past the end of the bag, to byte ${end} of ${dataEnd}: the bag is ` +
    "truncated, or the index is damaged";
}

/**
 * Makes sure that a record lies inside its bag.
 *
 * @param start Byte offset of the record: the end of the one before.
 * @param end Byte offset of its end.
 * @param before Byte offset of the record before it, where there is one: that an end is too low shows
 * in the record it ends, but in the next one only beside this.
 * @throws {FormatError} With code `bad-index` where it does not.
 */
export function checkLimits(
  bag: IndexedBag,
  record: number,
  start: number,
  end: number,
  before = 0,
): void {
  const { path, dataEnd } = bag;
  const descends = before > start && before <= dataEnd; // past the end, it is the wrong one itself
  if (!descends && start <= end && end <= dataEnd) return;
  const last = Math.max(start, end);
  const what = last > dataEnd
    ? pastEnd(last, dataEnd)
    : start > end
    ? `limits descend: the index is not monotonic, it starts at ${start} and ends at ${end}`
    : `limits descend: the index is not monotonic, it starts at ${start} and the record before at ${before}`;
  throw new FormatError("bad-index", `${path}, record ${record}: ${what}`, {
    path,
    sample: record,
    expected: dataEnd,
    actual: end,
  });
}

/**
 * Tells a page of an index from record bytes that were taken for one, since the true end of the file
 * is lost. A single damaged limit passes: it takes two records with it, no more.
 *
 * @param first The number of the first entry of `page`.
 * @param otherwise What else may be wrong, for the message.
 * @throws {FormatError} With code `truncated` where it is none.
 */
export function checkIndexPage(
  bag: IndexedBag,
  page: Uint8Array,
  first: number,
  otherwise: string,
): void {
  const { path, dataEnd } = bag;
  let before = 0;
  let beforeZero = 0;
  let faults = 0;
  for (let at = 0; at < page.length; at += ENTRY) {
    const end = readEntry(page, at);
    const isPast = end > dataEnd;
    if (isPast || end < before) faults++;
    const isFirst = at === 0 && first === 0;
    // Numbers that start again from 0 are another index; a single 0 is a damaged limit.
    const startsAgain = end > 0 && end < beforeZero;
    if (isFirst && isPast || startsAgain || faults > 2) {
      throw new FormatError(
        "truncated",
        `${path}: the last limit does not mark the start of the index: record bytes are taken for ` +
          `index entries (entry ${
            first + at / ENTRY
          } is ${end}). The file is truncated or damaged${otherwise}`,
        { path, expected: dataEnd, actual: end },
      );
    }
    beforeZero = end === 0 ? Math.max(before, beforeZero) : 0;
    before = end;
  }
}

/** The index of a generation-3 bag: `foo.idx` for `foo.bag`. */
export function indexPath(bagPath: string): string {
  return bagPath.replace(/\.[^./]*$/, "") + ".idx";
}
