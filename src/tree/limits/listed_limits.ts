import { FormatError } from "../../base/errors.ts";
import type { Steps } from "../../io/concurrency/steps.ts";
import { readPart } from "../../io/read/read_part.ts";
import type { ByteSource } from "../../io/storage/byte_source.ts";
import { GrowingNumbers } from "../growing_numbers.ts";
import {
  ascendingOnce,
  firstFrom,
  type WholeNumbers,
} from "../shared_numbers.ts";
import type { Chain, FoundLimits } from "./chained_limits.ts";

/** Longest line of an index, in bytes. */
const LONGEST_LINE = 64;
const [TAB, NEWLINE, RETURN, ZERO] = [9, 10, 13, 48];

/**
 * Finds the records of a file by an index: lines of a key, a tab and the start of a record. They are in the order of
 * the file, whatever that of the lines. Of keys with the same record, the first one is taken.
 *
 * @throws {FormatError} If it is not the index of that file.
 */
export function* listedLimits(
  source: ByteSource,
  index: ByteSource,
  { header, partAt }: Chain<unknown>,
): Steps<FoundLimits> {
  const { name: path, size } = source;
  const wrong = (why: string) =>
    new FormatError(
      "bad-index",
      `Cannot read all of ${path}: its index ${index.name} ${why}. ` +
        "Download both again, or move the index away to find records without it",
      { path },
    );
  if (index.size > (size / header + 1) * LONGEST_LINE) {
    throw wrong("has more lines than the file can have records");
  }
  const starts = new GrowingNumbers(size + 1);
  const keys = new GrowingNumbers();
  let [areNumbers, isStart] = [true, true];
  let [key, start, columns, lines] = [NaN, 0, 0, 0];
  for (const byte of yield* readPart(index, 0, index.size)) {
    if (byte === NEWLINE) {
      lines++;
      if (columns === 0 || Number.isNaN(start)) {
        throw wrong(`has a line ${lines} that is no key and start of a record`);
      }
      areNumbers &&= Number.isSafeInteger(key);
      if (start + header <= size) {
        starts.push(start);
        keys.push(key);
      }
      [key, start, columns] = [NaN, 0, 0];
    } else if (byte === TAB) columns++;
    else if (columns === 0) key = withDigit(isStart ? 0 : key, byte);
    else if (columns === 1 && byte !== RETURN) start = withDigit(start, byte);
    isStart = byte === NEWLINE;
  }
  const count = starts.length;
  starts.push(size);
  const listed = starts.finish();
  const limits = ascendingOnce(listed);
  const found = {
    limits,
    keys: areNumbers ? keysIn(limits, listed, keys.finish()) : undefined,
  };
  if (count > 0) {
    const last = limits.at(-2)!;
    const head = yield* readPart(source, last, header);
    const part = partAt(new DataView(head.buffer), 0);
    const end = last + (part?.stored ?? 0);
    const isWhole = part === undefined || !part.ends || end === size;
    if (isWhole && count === lines) return { ...found, isListed: true };
  } else if (size === 0) return { ...found, isListed: true };
  const why = `has ${lines} records, of which ${count} start in the file; ` +
    `the last of them does not end at its end, byte ${size}`;
  return { ...found, damage: wrong(why) };
}

/** Appends a digit to a number; NaN if it is none. */
function withDigit(number: number, byte: number): number {
  const digit = byte - ZERO;
  return digit >= 0 && digit < 10 ? number * 10 + digit : NaN;
}

/** Returns the keys of records by those in the order of the index. */
function keysIn(
  limits: WholeNumbers,
  listed: WholeNumbers,
  keys: WholeNumbers,
): WholeNumbers {
  if (limits === listed) return keys;
  const sorted = new Float64Array(limits.length - 1);
  for (let i = keys.length - 1; i >= 0; i--) {
    sorted[firstFrom(limits, listed[i]!)] = keys[i]!;
  }
  return sorted;
}
