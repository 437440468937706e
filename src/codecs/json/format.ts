import type { JsonValue } from "./value.ts";

/** A string as Python's `json.dumps` writes it: all of ASCII, the rest as escapes. */
export function formatString(text: string): string {
  return JSON.stringify(text).replace(
    /[\u007f-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** A float as Python writes it: always with a point or an exponent, or a word. */
export function formatFloat(number: number): string {
  if (Number.isNaN(number)) return "NaN";
  if (!Number.isFinite(number)) return number > 0 ? "Infinity" : "-Infinity";
  if (Object.is(number, -0)) return "-0.0";
  const size = Math.abs(number);
  if (number === 0 || size >= 1e-4 && size < 1e16) {
    const text = String(number);
    return text.includes(".") ? text : `${text}.0`;
  }
  const [digits, exponent] = number.toExponential().split("e");
  const power = Number(exponent);
  const sign = power < 0 ? "-" : "+";
  return `${digits}e${sign}${String(Math.abs(power)).padStart(2, "0")}`;
}

/** A number as Python writes the one that JavaScript cannot tell from it: an `int` where it is one. */
export function formatNumber(number: number | bigint): string {
  if (typeof number === "bigint") return String(number);
  return Number.isSafeInteger(number) && !Object.is(number, -0)
    ? String(number)
    : formatFloat(number);
}

/**
 * Writes JSON as Python's `json.dumps` does, with its blanks and its words for no numbers.
 *
 * @throws {TypeError} If the value is something that JSON has no form for.
 * @throws {RangeError} If it is nested too deep, or holds itself.
 */
export function formatJson(value: JsonValue): string {
  if (value === null || typeof value === "boolean") return String(value);
  if (typeof value === "number" || typeof value === "bigint") {
    return formatNumber(value);
  }
  if (typeof value === "string") return formatString(value);
  if (Array.isArray(value)) return `[${value.map(formatJson).join(", ")}]`;
  if (typeof value !== "object") {
    throw new TypeError(`JSON has no form for a ${typeof value}`);
  }
  const items = Object.entries(value).map(([key, item]) =>
    `${formatString(key)}: ${formatJson(item)}`
  );
  return `{${items.join(", ")}}`;
}

/** A value for messages, which any JSON may be: lists and objects are not written out. */
export function briefJson(value: JsonValue): string {
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object" && value !== null) return "an object";
  const text = typeof value === "string" ? formatString(value) : String(value);
  return text.length <= 80 ? text : `${text.slice(0, 80)}…`;
}
