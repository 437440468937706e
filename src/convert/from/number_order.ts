import { byCodePoint } from "../../base/names.ts";

/**
 * Compares names that differ only in their last number (before an extension) by that number: `frame_9999.jpg` before
 * `frame_10000.jpg`, and `000999999` before `1000000`. Numbers may have any width and size.
 */
export function byNumber(a: string, b: string): number {
  const first = partsOf(a);
  const second = partsOf(b);
  return byCodePoint(first.before, second.before) ||
    first.digits.length - second.digits.length ||
    byCodePoint(first.digits, second.digits) || byCodePoint(a, b);
}

function partsOf(name: string): { before: string; digits: string } {
  const dot = name.lastIndexOf(".");
  const end = dot < 0 ? name.length : dot;
  let start = end;
  while (start > 0 && isDigit(name.charCodeAt(start - 1))) start--;
  let first = start;
  while (first < end && name[first] === "0") first++;
  return { before: name.slice(0, start), digits: name.slice(first, end) };
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}
