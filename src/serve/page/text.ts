/** Numbers, sizes and names as people read them. */

/** Where commas go: the browser's own formats of numbers take it 40 ms when the page opens. */
const THOUSANDS = /\B(?=(\d{3})+$)/g;
const UNITS = ["B", "KB", "MB", "GB", "TB", "PB"];

/** A whole number with commas: `1,000,000`. */
export function count(value: number): string {
  return String(value).replace(THOUSANDS, ",");
}

/** A number of things: `1 frame`, `1,000 frames`. */
export function counted(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}

/** What one of the samples is called: `video`. */
export function unitOf({ unit }: { readonly unit: string }): string {
  return unit.replace(/s$/, "");
}

/** A size in bytes, in the unit that suits: `1.5 MB` are 1,500,000. */
export function bytes(size: number | null): string {
  if (size === null) return "?";
  let unit = 0;
  for (; size >= 999.5 && unit < UNITS.length - 1; unit++) size /= 1000;
  const text = unit === 0 || size >= 99.95 ? size.toFixed(0) : size.toFixed(1);
  return `${text} ${UNITS[unit]}`;
}

/** A number, in up to six digits where it is no whole one. */
export function number(value: number): string {
  if (Object.is(value, -0)) return "-0";
  if (Number.isInteger(value) && Math.abs(value) < 1e15) return count(value);
  const [size, text] = [Math.abs(value), value.toPrecision(6)];
  return size !== 0 && (size < 1e-4 || size >= 1e15)
    ? Number(text).toExponential()
    : String(Number(text));
}

/** Lengths of an array's axes: `4 × 3`. */
export function shapeText(shape: readonly number[]): string {
  return shape.length === 0 ? "scalar" : shape.map(count).join(" × ");
}

/** A time of a container, in the reader's zone. */
export function time(milliseconds: number): string {
  return new Date(milliseconds).toLocaleString("en", {
    dateStyle: "medium",
    timeStyle: "short",
  });
}

/** What does not show, or has what stands beside it show in another order. */
const UNSEEN =
  /[\p{Cc}\p{Cs}\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/gu;

/** A key as it can be shown in one line: one without a character is seen as well. */
export function shownKey(key: string): string {
  return key === "" ? '""' : shownName(key);
}

/** A name as it can be shown in one line: what is not seen is written as Python would. */
export function shownName(name: string): string {
  return name.replaceAll(UNSEEN, (found) => {
    const code = found.charCodeAt(0);
    const short =
      ({ 9: "\\t", 10: "\\n", 13: "\\r" } as Record<number, string>)[
        code
      ];
    if (short !== undefined) return short;
    // Bytes that are no UTF-8 stand as U+DC80 to U+DCFF.
    const value = code >= 0xdc80 && code <= 0xdcff ? code - 0xdc00 : code;
    return value < 0x100
      ? `\\x${value.toString(16).padStart(2, "0")}`
      : `\\u${value.toString(16).padStart(4, "0")}`;
  });
}
