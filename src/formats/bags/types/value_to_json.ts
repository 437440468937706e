import { formatFloat, formatNumber } from "../../../codecs/json/format.ts";
import { encodeArray, isNdArray } from "../../../codecs/numpy/array_bytes.ts";
import type { NdArray } from "../../../codecs/numpy/mod.ts";
import {
  MsgpackExt,
  MsgpackFloat,
  MsgpackTimestamp,
} from "../../../codecs/msgpack/mod.ts";
import { hasListedValues, rowsOf } from "./array_rows.ts";
import type { TreeContent } from "./tree.ts";

/** Deeper values are refused, as MessagePack does. */
const DEEPEST = 1024;

/**
 * A value of the types `int`, `utf8`, `bytes`, `msgpack`, `array` and `tree` as JSON in one line,
 * always the same for the same value; {@linkcode jsonToValue} makes the value again.
 *
 * Numbers are written in full, with `NaN`, `Infinity` and `-Infinity` as Python's `json` has them.
 * What JSON has no form for is an object with one key:
 *
 * | value                              | JSON                                                        |
 * | ---------------------------------- | ----------------------------------------------------------- |
 * | bytes                              | `{"$bytes": "base64"}`                                      |
 * | array of numbers, bools or text    | `{"$array": {"dtype": "<f4", "shape": [2, 2], "values": [[1, 2], [3, 4]]}}` |
 * | other array                        | `{"$array": {"dtype": "<c8", "shape": [2], "data": "base64"}}` |
 * | map with keys that are no strings  | `{"$map": [[1, "one"], [2, "two"]]}`                         |
 * | {@linkcode MsgpackExt}             | `{"$ext": {"type": 5, "data": "base64"}}`                   |
 * | {@linkcode MsgpackTimestamp}       | `{"$timestamp": {"seconds": 1, "nanoseconds": 0}}`          |
 *
 * Text whose type is so wide that nearly all of it is padding counts as another array. An object whose only key
 * starts with `$` is written as a `$map` too. A whole number is a float where it has a point, as in Python:
 * {@linkcode MsgpackFloat} is written as `1.0`.
 *
 * @throws {TypeError} If the value is something else, such as an image, or nests more than 1,024
 * deep.
 *
 * @example A map and its JSON
 * ```ts
 * import { jsonToValue, valueToJson } from "@recordfs/recordfs/bags";
 * import assert from "node:assert/strict";
 *
 * const json = valueToJson({ id: 2n ** 60n, raw: Uint8Array.of(1, 2) });
 * assert.equal(json, '{"id": 1152921504606846976, "raw": {"$bytes": "AQI="}}');
 * assert.deepEqual(jsonToValue(json), { id: 2n ** 60n, raw: Uint8Array.of(1, 2) });
 * ```
 */
export function valueToJson(value: TreeContent): string {
  return json(value, 0);
}

function json(value: unknown, depth: number): string {
  switch (typeof value) {
    case "string":
      return JSON.stringify(value);
    case "number":
    case "bigint":
      return formatNumber(value);
    case "boolean":
      return String(value);
    case "object":
      return value === null ? "null" : objectJson(value, depth);
    default:
      return refuse(value === undefined ? "undefined" : `a ${typeof value}`);
  }
}

function objectJson(value: object, depth: number): string {
  if (depth > DEEPEST) return refuse(`what nests more than ${DEEPEST} deep`);
  if (value instanceof Uint8Array) return special("$bytes", base64(value));
  if (Array.isArray(value)) {
    return `[${value.map((item) => json(item, depth + 1)).join(", ")}]`;
  }
  if (value instanceof Map) return entriesJson([...value], depth);
  if (value instanceof MsgpackExt) {
    const { type, data } = value;
    return special(
      "$ext",
      fields([["type", `${type}`], ["data", base64(data)]]),
    );
  }
  if (value instanceof MsgpackTimestamp) {
    const { seconds, nanoseconds } = value;
    return special(
      "$timestamp",
      fields([["seconds", `${seconds}`], ["nanoseconds", `${nanoseconds}`]]),
    );
  }
  if (value instanceof MsgpackFloat) return formatFloat(value.value);
  if (isNdArray(value)) return special("$array", arrayJson(value));
  const prototype = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) {
    return refuse(`a ${value.constructor?.name ?? "object of a class"}`);
  }
  return entriesJson(Object.entries(value), depth);
}

function entriesJson(
  entries: readonly (readonly [unknown, unknown])[],
  depth: number,
): string {
  const isObject = entries.every(([key]) => typeof key === "string") &&
    (entries.length !== 1 || !(entries[0]![0] as string).startsWith("$"));
  return isObject
    ? fields(
      entries.map(([key, item]) => [key as string, json(item, depth + 1)]),
    )
    : mapJson(entries, depth);
}

function mapJson(
  entries: readonly (readonly [unknown, unknown])[],
  depth: number,
): string {
  const items = entries.map(([key, item]) =>
    `[${json(key, depth + 1)}, ${json(item, depth + 1)}]`
  );
  return special("$map", `[${items.join(", ")}]`);
}

function arrayJson(array: NdArray): string {
  const { dtype, shape } = array;
  return fields([
    ["dtype", JSON.stringify(dtype)],
    ["shape", `[${shape.join(", ")}]`],
    hasListedValues(array)
      ? ["values", rowsOf(array)]
      : ["data", base64(encodeArray(array).elements)],
  ]);
}

/** An object of keys with texts that are JSON already. */
function fields(items: readonly (readonly [string, string])[]): string {
  const parts = items.map(([key, item]) => `${JSON.stringify(key)}: ${item}`);
  return `{${parts.join(", ")}}`;
}

function special(word: string, content: string): string {
  return `{"${word}": ${content}}`;
}

function base64(bytes: Uint8Array): string {
  return `"${bytes.toBase64()}"`;
}

function refuse(what: string): never {
  throw new TypeError(`Cannot show ${what} as JSON: read its bytes instead`);
}
