/** Formatting of numbers, sizes and names. */

/** Positions of thousands separators. `Intl` would take 40 ms when the page opens. */
const THOUSANDS = /\B(?=(\d{3})+$)/g;
const UNITS = ["B", "KB", "MB", "GB", "TB", "PB"];

/** Formats an integer: `1,000,000`. */
export function count(value: number): string {
  return String(value).replace(THOUSANDS, ",");
}

/** Formats a count: `1 frame`, `1,000 frames`. */
export function counted(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}

/** Returns the singular of a unit of samples: `video`; `other` if they have no indices. */
export function unitOf(
  samples: { readonly unit: string } | null,
  other = "sample",
): string {
  return samples === null ? other : samples.unit.replace(/s$/, "");
}

export function capitalized(word: string): string {
  return `${word[0]!.toUpperCase()}${word.slice(1)}`;
}

/** Formats a size in decimal units: `1.5 MB` is 1,500,000 bytes. */
export function bytes(size: number | null): string {
  if (size === null) return "?";
  let unit = 0;
  for (; size >= 999.5 && unit < UNITS.length - 1; unit++) size /= 1000;
  const text = unit === 0 || size >= 99.95 ? size.toFixed(0) : size.toFixed(1);
  return `${text} ${UNITS[unit]}`;
}

/** Formats a number; six significant digits unless it is an integer. */
export function number(value: number): string {
  if (Object.is(value, -0)) return "-0";
  if (Number.isInteger(value) && Math.abs(value) < 1e15) return count(value);
  const [size, text] = [Math.abs(value), value.toPrecision(6)];
  return size !== 0 && (size < 1e-4 || size >= 1e15)
    ? Number(text).toExponential()
    : String(Number(text));
}

/** Formats a shape: `4 × 3`. */
export function shapeText(shape: readonly number[]): string {
  return shape.length === 0 ? "scalar" : shape.map(count).join(" × ");
}

export function time(milliseconds: number): string {
  return new Date(milliseconds).toLocaleString("en", {
    dateStyle: "medium",
    timeStyle: "short",
  });
}

/** Invisible characters, and those that change the order of adjacent text. */
const UNSEEN =
  /[\p{Cc}\p{Cs}\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/gu;

/** Formats a key for display in one line; an empty one in quotes. */
export function shownKey(key: string): string {
  return key === "" ? '""' : shownName(key);
}

/** Formats a name for display in one line, with invisible characters escaped as in Python. */
export function shownName(name: string): string {
  return name.replaceAll(UNSEEN, (found) => {
    const code = found.charCodeAt(0);
    const short =
      ({ 9: "\\t", 10: "\\n", 13: "\\r" } as Record<number, string>)[
        code
      ];
    if (short !== undefined) return short;
    // U+DC80 to U+DCFF represent bytes that are not UTF-8.
    const value = code >= 0xdc80 && code <= 0xdcff ? code - 0xdc00 : code;
    return value < 0x100
      ? `\\x${value.toString(16).padStart(2, "0")}`
      : `\\u${value.toString(16).padStart(4, "0")}`;
  });
}
