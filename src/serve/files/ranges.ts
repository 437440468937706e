import { ServeError } from "../serve_error.ts";

/** Bytes of a content from `start` on, to before `end`. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** More ranges than these in one request are refused: each takes a part of the answer, however short it is. */
export const MOST_RANGES = 1000;

/**
 * Reads `Range` (RFC 9110, 14.2).
 *
 * @returns The ranges, within the content, in the order in which they were asked for; where they overlap or touch, as
 * fewer. `undefined` where all of the content is the answer: for other units than bytes, and what is no list of ranges.
 * @throws {ServeError} If none is in the content, or there are too many.
 */
export function rangesOf(
  header: string | null,
  size: number,
): readonly ByteRange[] | undefined {
  if (header === null) return undefined;
  const list = /^bytes[ \t]*=(.*)$/is.exec(header)?.[1];
  if (list === undefined) return undefined;
  if (commas(list) >= MOST_RANGES) {
    throw new ServeError(
      "too-many-ranges",
      `A request may ask for ${MOST_RANGES} ranges at most`,
    );
  }
  const ranges: ByteRange[] = [];
  for (const part of list.split(",")) {
    const spec = part.trim();
    if (spec === "") continue; // RFC 9110, 5.6.1
    const found = /^([0-9]*)-([0-9]*)$/.exec(spec);
    if (found === null) return undefined;
    const [, first = "", last = ""] = found;
    if (first === "" && last === "") return undefined;
    const range = within(first, last, size);
    if (range === null) return undefined;
    if (range !== undefined) ranges.push(range);
  }
  if (ranges.length > 0) return joined(ranges);
  throw new ServeError(
    "no-such-range",
    `The file has ${size} bytes: none of those that were asked for`,
    { headers: [["content-range", `bytes */${size}`]] },
  );
}

/** A range within a content; `undefined` where it lies outside, `null` where it ends before it starts. */
function within(
  first: string,
  last: string,
  size: number,
): ByteRange | undefined | null {
  // Numbers of any length: those that are too large for one are beyond every file.
  if (first === "") {
    const length = Math.min(Number(last), size);
    return length === 0 ? undefined : { start: size - length, end: size };
  }
  const start = Number(first);
  const end = last === "" ? size : Math.min(Number(last) + 1, size);
  if (last !== "" && Number(last) < start) return null;
  return start >= size ? undefined : { start, end };
}

function commas(text: string): number {
  let count = 0;
  for (let at = text.indexOf(","); at >= 0; at = text.indexOf(",", at + 1)) {
    count++;
  }
  return count;
}

/** Joins ranges that overlap or touch, if there are such: nobody is sent a byte twice. */
function joined(ranges: readonly ByteRange[]): readonly ByteRange[] {
  if (ranges.length === 1) return ranges;
  const sorted = ranges.toSorted((a, b) => a.start - b.start);
  const result: { start: number; end: number }[] = [];
  for (const { start, end } of sorted) {
    const before = result.at(-1);
    if (before !== undefined && start <= before.end) {
      before.end = Math.max(before.end, end);
    } else result.push({ start, end });
  }
  return result.length === ranges.length ? ranges : result;
}
