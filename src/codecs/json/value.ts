import {
  isWrittenAsInt,
  MsgpackFloat,
  objectKeepsOrder,
} from "../msgpack/value.ts";
import { JsonError, JsonScanner, withSentinel } from "./scanner.ts";
import { type JsonMakers, JsonParser } from "./parser.ts";
import { strictUtf8Text } from "../../base/utf8.ts";

/** JSON value; an integer beyond 2^53 is a `bigint`. */
export type JsonValue =
  | null
  | boolean
  | number
  | bigint
  | string
  | JsonValue[]
  | { [key: string]: JsonValue };

/** JSON value that preserves all distinctions that Python makes. */
export type ExactJson =
  | null
  | boolean
  | number
  | bigint
  | string
  | MsgpackFloat
  | ExactJson[]
  | { [key: string]: ExactJson }
  | Map<string, ExactJson>;

/** Texts that `JSON.parse` reads differently from Python: long integers, the integer -0, `NaN` and `Infinity`. */
const BEYOND_JSON_PARSE = /(?<![\d.])\d{16}|-0(?![\d.eE])|NaN|Infinity/;

/**
 * Texts that `JSON.parse` reads correctly but without distinctions: integral floats from integers, and the order of the
 * keys `"10"` and `"2"`. If it does not match, there are none of these.
 */
const INEXACT = new RegExp(
  [
    String.raw`\.0+(?!\d)`, // 1.0
    String.raw`\.(?:0{10}|9{10})`, // may round to an integer
    String.raw`(?<=\d{6})\.[09]`, // the same for large numbers
    String.raw`[eE](?<=\d.)(?!-0?[1-9]\d?(?!\d))`, // 1e5
    String.raw`[eE](?<=(?<![.\d])(?:0|\d{2,}(?:\.\d*)?).)`, // 10e-1
    String.raw`"\d+"\s*:|\\u003`, // "10":
  ].join("|"),
);

const PLAIN: JsonMakers<JsonValue> = {
  float: (number) => number,
  object: Object.fromEntries, // "__proto__" is an ordinary key
};

const EXACT: JsonMakers<ExactJson> = {
  float: (number) => isWrittenAsInt(number) ? new MsgpackFloat(number) : number,
  object(entries) {
    const map = new Map(entries);
    return objectKeepsOrder([...map.keys()]) ? Object.fromEntries(map) : map;
  },
};

/**
 * Parses JSON as Python does: `NaN`, `Infinity` and `-Infinity` are numbers, integers are exact.
 *
 * Objects and lists retain their text: `formatJson` writes unchanged ones by it, so that `1.0` stays a float, keys such
 * as `"10"` and `"2"` keep their order, and blanks are preserved.
 *
 * @throws {JsonError} If it is not JSON; the offset counts UTF-16 units.
 */
export function parseJson(text: string): JsonValue {
  return keepText(parsePlainJson(text), text.trim());
}

/** Like {@linkcode parseJson}, without retaining text for rewriting. */
export function parsePlainJson(text: string): JsonValue {
  if (!BEYOND_JSON_PARSE.test(text)) {
    try {
      return JSON.parse(text);
    } catch {
      // The parser below locates the error.
    }
  }
  return new JsonParser<JsonValue>(text, PLAIN).parse();
}

/**
 * Parses JSON without losing what Python distinguishes: an integral float becomes a {@linkcode MsgpackFloat}, and an
 * object whose order JavaScript would change becomes a `Map`.
 *
 * @throws {JsonError} As {@linkcode parseJson}.
 */
export function parseExactJson(text: string): ExactJson {
  if (!BEYOND_JSON_PARSE.test(text) && !INEXACT.test(text)) {
    try {
      return JSON.parse(text);
    } catch {
      // The parser below locates the error.
    }
  }
  return new JsonParser<ExactJson>(text, EXACT).parse();
}

/** Parses a JSON file; validates it first, including its nesting, and throws a {@linkcode JsonError}. */
export function parseJsonFile(bytes: Uint8Array): JsonValue {
  const scanner = new JsonScanner(withSentinel(bytes));
  scanner.skipValue();
  scanner.finish();
  return parseJson(decodeText(bytes));
}

/** @throws {JsonError} If the bytes are not UTF-8. */
export function decodeText(bytes: Uint8Array): string {
  try {
    return strictUtf8Text(bytes);
  } catch {
    throw new JsonError(0, "its text is not UTF-8");
  }
}

/** Returns the given object from its constructor, so that subclasses add private fields to it. */
class Given {
  constructor(object: object) {
    return object;
  }
}

/**
 * Attaches its source text to an object: JavaScript represents neither `1.0` nor the order of the keys `10` and `2`, so
 * unchanged values are written by their text.
 *
 * A private field is invisible, and costs a tenth of a `WeakMap`.
 */
class KeptText extends Given {
  #text: string;

  constructor(object: object, text: string) {
    super(object);
    this.#text = text;
  }

  static of(object: object): string | undefined {
    return #text in object ? object.#text : undefined;
  }
}

/** Attaches its text to a newly parsed list or object. */
function keepText<Value extends JsonValue>(
  value: Value,
  text: string,
): Value {
  if (typeof value === "object" && value !== null) new KeptText(value, text);
  return value;
}

/** Returns the text attached by {@linkcode keepText}, if any. */
export function keptText(value: JsonValue): string | undefined {
  return typeof value === "object" && value !== null
    ? KeptText.of(value)
    : undefined;
}
