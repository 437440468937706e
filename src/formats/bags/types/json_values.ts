import { DEEPEST, JsonError } from "../../../codecs/json/scanner.ts";
import { type ExactJson, parseExactJson } from "../../../codecs/json/value.ts";
import {
  arrayFromBytes,
  checkArray,
  encodeArray,
  isNdArray,
} from "../../../codecs/numpy/array_bytes.ts";
import { type NdArray, NumpyError } from "../../../codecs/numpy/mod.ts";
import {
  MsgpackExt,
  MsgpackFloat,
  MsgpackTimestamp,
  type PackableValue,
} from "../../../codecs/msgpack/mod.ts";
import {
  elementsOf,
  hasListedValues,
  isMostlyPadding,
  plainNumber,
  rowsOf,
} from "./array_rows.ts";
import { isShape } from "../../../codecs/numpy/nd_array.ts";
import type { TreeContent } from "../../../codecs/values/array_tree.ts";
import { ValueError } from "./value_error.ts";
import { formatFloat, formatNumber } from "../../../codecs/json/format.ts";

/**
 * Parses JSON as {@linkcode valueToJson} writes it, or as users write it in the same form. Accepts JSON as Python does:
 * `NaN` is a number. Integers beyond 2^53 become `bigint`.
 *
 * A number with a point or an exponent is a float: `1.0` becomes a {@linkcode MsgpackFloat}, as does `{"$float": 1}`.
 * An object whose keys JavaScript would reorder, `{"10": …, "2": …}`, becomes a `Map`.
 *
 * @param text One value, nested up to 1,000 levels deep, the limit of Python's `json`. A `$map` counts as three.
 * @param type Name of the value's type in errors.
 * @throws {ValueError} If the text is not JSON or nests too deep, or if an object whose only key starts with `$` is
 * none of the forms (`code: "bad-json"`).
 */
export function jsonToValue(text: string, type = "tree"): TreeContent {
  return orValueError(type, () => valueOf(parseExactJson(text), 0));
}

/** Like {@linkcode jsonToValue}, for parsed JSON. */
export function parsedJsonToValue(json: ExactJson, type: string): TreeContent {
  return orValueError(type, () => valueOf(json, 0));
}

function orValueError<T>(type: string, make: () => T): T {
  try {
    return make();
  } catch (cause) {
    const isExpected = cause instanceof JsonError ||
      cause instanceof NumpyError || cause instanceof TypeError ||
      cause instanceof RangeError;
    if (!isExpected) throw cause;
    throw new ValueError("bad-json", type, cause.message, cause);
  }
}

function valueOf(json: ExactJson, depth: number): TreeContent {
  if (typeof json !== "object" || json === null) return json;
  if (json instanceof MsgpackFloat) return json;
  if (depth > DEEPEST) {
    throw new TypeError(`The JSON nests more than ${DEEPEST} levels deep`);
  }
  if (Array.isArray(json)) return json.map((item) => valueOf(item, depth + 1));
  const entries = json instanceof Map ? [...json] : Object.entries(json);
  const [word, content] = entries[0] ?? [];
  if (entries.length === 1 && word!.startsWith("$")) {
    return specialValue(word!, content!, depth);
  }
  const items = entries.map(([key, item]) =>
    [key, valueOf(item, depth + 1)] as const
  );
  if (json instanceof Map) return new Map(items);
  const made: Record<string, TreeContent> = Object.fromEntries(items);
  return isNdArray(made) ? new Map(items) : made; // a map that looks like an array
}

function specialValue(
  word: string,
  content: ExactJson,
  depth: number,
): TreeContent {
  const { data, ...numbers } = fieldsOf(content);
  const type = plainNumber(numbers["type"]);
  const seconds = plainNumber(numbers["seconds"]);
  const nanoseconds = plainNumber(numbers["nanoseconds"]);
  switch (word) {
    case "$bytes":
      return bytesOf(content, word);
    case "$float":
      if (content instanceof MsgpackFloat) return content;
      if (typeof content === "number" || typeof content === "bigint") {
        return new MsgpackFloat(Number(content));
      }
      break;
    case "$map":
      if (Array.isArray(content)) {
        return new Map(content.map((entry) => entryOf(entry, depth)));
      }
      break;
    case "$ext":
      if (typeof type === "number") {
        return new MsgpackExt(type, bytesOf(data, word));
      }
      break;
    case "$timestamp":
      if (
        (typeof seconds === "number" || typeof seconds === "bigint") &&
        typeof nanoseconds === "number"
      ) return new MsgpackTimestamp(seconds, nanoseconds);
      break;
    case "$array":
      return arrayOf(fieldsOf(content));
  }
  return refuse(word);
}

function entryOf(
  entry: ExactJson,
  depth: number,
): [PackableValue, TreeContent] {
  if (!Array.isArray(entry) || entry.length !== 2) return refuse("$map");
  const [key, item] = entry.map((part) => valueOf(part, depth + 2));
  return [key as PackableValue, item!];
}

function arrayOf(
  { dtype, shape: written, values, data }: Record<string, ExactJson>,
): NdArray {
  const shape = Array.isArray(written) ? written.map(plainNumber) : undefined;
  const isArray = typeof dtype === "string" && shape !== undefined &&
    isShape(shape) && (values === undefined) !== (data === undefined);
  if (!isArray) return refuse("$array");
  if (data !== undefined) {
    return arrayFromBytes(dtype, shape, bytesOf(data, "$array"));
  }
  const array = { dtype, shape, data: elementsOf(dtype, shape, values!) };
  checkArray(array); // throws if data and shape do not fit
  if (!isMostlyPadding(array)) return array;
  throw new TypeError(
    `An array of '${dtype}' would be nearly all padding around the texts that are given: ` +
      "give a type as wide as the longest of them, such as <U8, or its bytes as data",
  );
}

function fieldsOf(content: ExactJson): Record<string, ExactJson> {
  return typeof content === "object" && content !== null &&
      !Array.isArray(content) && !(content instanceof Map) &&
      !(content instanceof MsgpackFloat)
    ? content
    : {};
}

function bytesOf(content: ExactJson | undefined, word: string): Uint8Array {
  if (typeof content !== "string") return refuse(word);
  try {
    return Uint8Array.fromBase64(content);
  } catch {
    return refuse(word);
  }
}

function refuse(word: string): never {
  throw new TypeError(
    `{"${
      word.slice(0, 40)
    }": …} is not a valid value; the forms are {"$bytes": "base64"}, ` +
      '{"$float": number}, {"$map": [[key, value], …]}, {"$ext": {"type", "data"}}, ' +
      '{"$timestamp": {"seconds", "nanoseconds"}} and {"$array": {"dtype", "shape", "values" or "data"}}; ' +
      "write an object with such a key as a $map",
  );
}

/** Deepest nesting written, as in MessagePack. */
const DEEPEST_SHOWN = 1024;

/**
 * Writes a value of the types `int`, `utf8`, `bytes`, `msgpack`, `array` or `tree` as one line of JSON,
 * deterministically. {@linkcode jsonToValue} restores the value.
 *
 * Numbers are written in full, with `NaN`, `Infinity` and `-Infinity` as in Python's `json`. What JSON cannot express
 * is an object with one key:
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
 * A text array whose type is so wide that nearly all of it is padding is written like other arrays. An object whose
 * only key starts with `$` is also written as a `$map`. As in Python, a float that is an integer has a point:
 * {@linkcode MsgpackFloat} is written as `1.0`.
 *
 * @throws {TypeError} If the value is something else, such as an image, or nests more than 1,024 deep.
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
      return notShown(value === undefined ? "undefined" : `a ${typeof value}`);
  }
}

function objectJson(value: object, depth: number): string {
  if (depth > DEEPEST_SHOWN) {
    return notShown(`what nests more than ${DEEPEST_SHOWN} deep`);
  }
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
    return notShown(`a ${value.constructor?.name ?? "object of a class"}`);
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

/** Joins keys and values, which are JSON already, into an object. */
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

function notShown(what: string): never {
  throw new TypeError(`Cannot show ${what} as JSON: read its bytes instead`);
}
