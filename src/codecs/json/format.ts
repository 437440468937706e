import { MsgpackFloat } from "../msgpack/value.ts";
import {
  type ExactJson,
  type JsonValue,
  keptText,
  parsePlainJson,
} from "./value.ts";
import { jsonItems, jsonMembers } from "./parts.ts";

/** Formats a string as Python's `json.dumps` does: ASCII, everything else escaped. */
export function formatString(text: string): string {
  return JSON.stringify(text).replace(
    /[\u007f-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** Formats a float as Python does: always with a point or an exponent, or as a word. */
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

/** Formats a number as Python would, as an `int` if it is integral: JavaScript does not distinguish `1` from `1.0`. */
export function formatNumber(number: number | bigint): string {
  if (typeof number === "bigint") return String(number);
  return Number.isSafeInteger(number) && !Object.is(number, -0)
    ? String(number)
    : formatFloat(number);
}

/**
 * Formats JSON as Python's `json.dumps` does, including spaces, `NaN` and `Infinity`. Unchanged parts of a `parseJson`
 * result keep their original text.
 *
 * @param value May also be a result of `parseExactJson`.
 * @throws {TypeError} If JSON has no form for the value.
 * @throws {RangeError} If it is nested too deep or contains itself.
 */
export function formatJson(value: JsonValue | ExactJson): string {
  if (value === null || typeof value === "boolean") return String(value);
  if (typeof value === "number" || typeof value === "bigint") {
    return formatNumber(value);
  }
  if (typeof value === "string") return formatString(value);
  if (typeof value !== "object") {
    throw new TypeError(`JSON cannot hold a ${typeof value}`);
  }
  const text = keptText(value as JsonValue);
  // A text with lone surrogates has no form in UTF-8.
  if (text?.isWellFormed()) return formatBeside(value as JsonValue, text);
  if (Array.isArray(value)) return listOf(value.map(formatJson));
  if (value instanceof MsgpackFloat) return formatFloat(value.value);
  const entries = value instanceof Map ? [...value] : Object.entries(value);
  return objectOf(entries.map(([key, item]) => [key, formatJson(item)]));
}

/** Formats a changed value given its previous text: keeps text of unchanged parts and key order, appends new keys. */
function formatBeside(value: JsonValue, text: string): string {
  if (isSame(value, parsePlainJson(text))) return text;
  if (Array.isArray(value)) {
    const items = jsonItems(text) ?? [];
    return listOf(value.map((item, i) => formatPart(item, items[i])));
  }
  const parts: [string, string][] = [];
  const members = jsonMembers(text) ?? new Map<string, string>();
  const object = value as { readonly [key: string]: JsonValue };
  for (const [key, part] of members) {
    if (!Object.hasOwn(object, key)) continue;
    parts.push([key, formatPart(object[key]!, part)]);
  }
  for (const [key, item] of Object.entries(object)) {
    if (!members.has(key)) parts.push([key, formatJson(item)]);
  }
  return objectOf(parts);
}

/** @param text Previous text of this part, if any. */
function formatPart(value: JsonValue, text: string | undefined): string {
  if (text === undefined || keptText(value) !== undefined) {
    return formatJson(value); // new, or parsed from another text
  }
  const isContainer = typeof value === "object" && value !== null &&
    text[0] === (Array.isArray(value) ? "[" : "{");
  if (isContainer) return formatBeside(value, text);
  return isSame(value, parsePlainJson(text)) ? text : formatJson(value);
}

function isSame(a: JsonValue, b: JsonValue): boolean {
  if (typeof a !== "object" || typeof b !== "object" || a === b) {
    return Object.is(a, b);
  }
  if (a === null || b === null) return false;
  if (Array.isArray(a) || Array.isArray(b)) {
    return Array.isArray(a) && Array.isArray(b) && a.length === b.length &&
      a.every((item, i) => isSame(item, b[i]!));
  }
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && isSame(a[key]!, b[key]!));
}

function listOf(items: readonly string[]): string {
  return `[${items.join(", ")}]`;
}

/** @param parts Keys with formatted values. */
function objectOf(parts: readonly (readonly [string, string])[]): string {
  const items = parts.map(([key, part]) => `${formatString(key)}: ${part}`);
  return `{${items.join(", ")}}`;
}

/** Formats a value for messages, in bounded length: lists and objects only by kind. */
export function briefJson(value: JsonValue | ExactJson): string {
  if (value instanceof MsgpackFloat) return formatFloat(value.value);
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object" && value !== null) return "an object";
  const text = typeof value === "string" ? formatString(value) : String(value);
  return text.length <= 80 ? text : `${text.slice(0, 80)}…`;
}
