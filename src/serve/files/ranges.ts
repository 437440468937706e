import { ServeError } from "../serve_error.ts";

/** Range of a content's bytes, with an exclusive end. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** Maximum number of ranges of a request: each adds a part to the response, however short it is. */
export const MOST_RANGES = 1000;

/**
 * Parses `Range` (RFC 9110, 14.2).
 *
 * @returns The satisfiable ranges in the requested order, or merged if they overlap or touch. `undefined` if the whole
 * content is to be sent: for units other than bytes, and malformed ranges.
 * @throws {ServeError} If no range is satisfiable, or there are too many.
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
      `A request may name at most ${MOST_RANGES} ranges`,
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
    `Cannot send the range: it is out of bounds: the file has ${size} bytes`,
    { headers: [["content-range", `bytes */${size}`]] },
  );
}

/** Clamps a range to a content; `undefined` if it is outside, `null` if it ends before it starts. */
function within(
  first: string,
  last: string,
  size: number,
): ByteRange | undefined | null {
  // Numbers may have any number of digits; those too large for a float are beyond every file.
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

/** Merges ranges that overlap or touch, so that no byte is sent twice. */
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
