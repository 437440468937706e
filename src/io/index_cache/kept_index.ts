import { inParallel } from "../concurrency/concurrency_limit.ts";
import type { Steps } from "../concurrency/steps.ts";
import { crc32Of } from "../read/crc32_of.ts";
import { readPart } from "../read/read_part.ts";
import type { ByteSource } from "../storage/byte_source.ts";
import { isMade } from "../storage/made_source.ts";
import type { CachedTables } from "./tables_format.ts";

/** Entries from which on the index of a local source is cached. Smaller ones are made in no time. */
const MANY = 1 << 15;
/** Size in bytes from which on the index of a slow source is cached. For smaller ones, it takes a request or two. */
const LARGE = 8 << 20;

/** Headers that an index file has hashes of: of the first entry, the last, and others spread evenly. */
const MARKS = 10;
/** Every so many of them is compared where each costs a request: of the first entry, the last, and two others. */
const FAR_STEP = 3;
/** Longest header that is hashed, in bytes. */
const LONGEST_MARK = 512;

/** How the index of a source is made, cached, and written to a file. */
export interface KeptIndex<Index> {
  /** Kind and format version of the index. */
  readonly kind: string;
  /** Smallest size of an entry in the source, in bytes. */
  readonly entrySize: number;
  /**
   * Returns the index of cached tables, or `undefined` if they are not of this source. Must trust nothing in them. Those of
   * an index file (`isForeign`) may be of another source of that size: what is read by the index must be compared first.
   */
  take(tables: CachedTables): Index | undefined;
  make(): Steps<Index>;
  /** Returns the number of entries. */
  count(index: Index): number;
  /** Whether the index may be cached. Other programs then wait for it. */
  readonly isCacheable: boolean;
  /** Returns the tables to cache; `undefined` if there are none. */
  tables(index: Index): CachedTables | undefined;
  /** Whether an index can be used where others made it. Without it, every one can. */
  travels?(index: Index): boolean;
  /**
   * Returns the offset in the source of an entry's header, which lies before other bytes in every other state of the source.
   * Without it, the index is not written to files.
   */
  headerAt?(index: Index, entry: number): number;
}

/** Whether making an index takes as long as reading all of a source: it is remote, or made of another one. */
export function isSlow(source: ByteSource): boolean {
  return source.readAtSync === undefined || isMade(source);
}

/** Whether the index of a source is worth being kept: of that size; and if it is given, with so many entries. */
export function paysOff<Index>(
  source: ByteSource,
  { entrySize, count }: KeptIndex<Index>,
  index?: Index,
): boolean {
  const slow = isSlow(source);
  return source.size >= (slow ? LARGE : MANY * entrySize) &&
    (slow || index === undefined || count(index) >= MANY);
}

/** Returns hashes of headers that identify a source. `which` are numbers below {@linkcode MARKS}. */
export function* marksOf<Index>(
  source: ByteSource,
  { count, headerAt }: KeptIndex<Index>,
  index: Index,
  which: readonly number[] = Array.from({ length: MARKS }, (_, i) => i),
): Steps<number[]> {
  const last = count(index) - 1;
  const marks: number[] = which.map(() => 0);
  if (last < 0) return marks;
  yield* inParallel(which.map(function* (mark, i): Steps<void> {
    const entry = Math.floor(last * mark / (MARKS - 1));
    const offset = headerAt!(index, entry);
    const length = Math.min(LONGEST_MARK, source.size - offset);
    if (offset >= 0 && length > 0) {
      marks[i] = crc32Of(yield* readPart(source, offset, length));
    }
  }));
  return marks;
}

/** Returns the numbers of the hashes to compare: what is decoded has been compared where it is stored. */
export function marksToCompare(source: ByteSource): number[] {
  if (isMade(source)) return [0];
  const step = source.readAtSync === undefined ? FAR_STEP : 1;
  const marks: number[] = [];
  for (let mark = 0; mark < MARKS; mark += step) marks.push(mark);
  return marks;
}

/** Whether a value has a hash for each header. */
export function areMarks(value: unknown): value is readonly number[] {
  return Array.isArray(value) && value.length === MARKS &&
    value.every(Number.isInteger);
}
