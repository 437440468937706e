import { DEEPEST, JsonError } from "../../../codecs/json/scanner.ts";
import { type ExactJson, parseExactJson } from "../../../codecs/json/value.ts";
import {
  arrayFromBytes,
  checkArray,
  isNdArray,
} from "../../../codecs/numpy/array_bytes.ts";
import { type NdArray, NumpyError } from "../../../codecs/numpy/mod.ts";
import {
  MsgpackExt,
  MsgpackFloat,
  MsgpackTimestamp,
  type PackableValue,
} from "../../../codecs/msgpack/mod.ts";
import { elementsOf, isMostlyPadding, plainNumber } from "./array_rows.ts";
import { isShape } from "./array.ts";
import type { TreeContent } from "./tree.ts";
import { ValueError } from "./value_error.ts";

/**
 * The value that {@linkcode valueToJson} wrote, or that a user writes in the same form. JSON as
 * Python has it is taken: `NaN` is a number, and integers beyond 2^53 become `bigint`.
 *
 * What is written with a point or an exponent is a float: `1.0` becomes a {@linkcode MsgpackFloat},
 * and so does `{"$float": 1}`. An object whose keys JavaScript would put into another order,
 * `{"10": …, "2": …}`, becomes a `Map`.
 *
 * @param text One value, nested up to 1,000 levels deep, as Python's `json` reads it. A `$map` is three.
 * @param type What errors call the value's type.
 * @throws {ValueError} If the text is not JSON, nests too deep, or an object whose only key
 * starts with `$` is none of the forms (`code: "bad-json"`).
 */
export function jsonToValue(text: string, type = "tree"): TreeContent {
  return orValueError(type, () => valueOf(parseExactJson(text), 0));
}

/**
 * {@linkcode jsonToValue} of JSON that is parsed already.
 *
 * @throws {ValueError} As that does.
 */
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
  return isNdArray(made) ? new Map(items) : made; // a map, though it looks like an array
}

/** By the words, what the values are made of. */
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
  checkArray(array); // which says what does not fit
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
    }": …} is no value in JSON; the forms are {"$bytes": "base64"}, ` +
      '{"$float": number}, {"$map": [[key, value], …]}, {"$ext": {"type", "data"}}, ' +
      '{"$timestamp": {"seconds", "nanoseconds"}} and {"$array": {"dtype", "shape", "values" or "data"}}; ' +
      "write an object with such a key as a $map",
  );
}
