import {
  isWrittenAsInt,
  MsgpackFloat,
  objectKeepsOrder,
} from "../msgpack/value.ts";
import { JsonError, JsonScanner, withSentinel } from "./scanner.ts";
import { type JsonMakers, JsonParser } from "./parser.ts";
import { strictUtf8Text } from "../../base/utf8.ts";

/** A value of JSON; an integer beyond 2^53 is a `bigint`. */
export type JsonValue =
  | null
  | boolean
  | number
  | bigint
  | string
  | JsonValue[]
  | { [key: string]: JsonValue };

/** A value of JSON where nothing that Python would tell apart may be lost. */
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

/** Texts that `JSON.parse` reads differently from Python: long integers, the integer -0, words for no numbers. */
const BEYOND_JSON_PARSE = /(?<![\d.])\d{16}|-0(?![\d.eE])|NaN|Infinity/;

/**
 * What it reads well, but does not tell apart: floats that are whole numbers from integers, and the
 * order of the keys `"10"` and `"2"`. Where this does not match there is none of it.
 */
const INEXACT = new RegExp(
  [
    String.raw`\.0+(?!\d)`, // 1.0
    String.raw`\.(?:0{10}|9{10})`, // so near to a whole number that it may become one
    String.raw`(?<=\d{6})\.[09]`, // the same of large numbers
    String.raw`[eE](?<=\d.)(?!-0?[1-9]\d?(?!\d))`, // 1e5
    String.raw`[eE](?<=(?<![.\d])(?:0|\d{2,}(?:\.\d*)?).)`, // 10e-1
    String.raw`"\d+"\s*:|\\u003`, // "10":
  ].join("|"),
);

const PLAIN: JsonMakers<JsonValue> = {
  float: (number) => number,
  object: Object.fromEntries, // "__proto__" is a key like others
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
 * An object and a list remember their text: `formatJson` writes what is unchanged by it, so that
 * `1.0` stays a float, keys such as `"10"` and `"2"` keep their order, and blanks their places.
 *
 * @throws {JsonError} If it is none; the offset counts UTF-16 units.
 */
export function parseJson(text: string): JsonValue {
  return keepText(parsePlainJson(text), text.trim());
}

/** {@linkcode parseJson} of what is not going to be written again. */
export function parsePlainJson(text: string): JsonValue {
  if (!BEYOND_JSON_PARSE.test(text)) {
    try {
      return JSON.parse(text);
    } catch {
      // The parser below says where it is wrong.
    }
  }
  return new JsonParser<JsonValue>(text, PLAIN).parse();
}

/**
 * Parses JSON so that the value says all that Python's would: a whole number that was written as a
 * float is a {@linkcode MsgpackFloat}, and an object whose order JavaScript would change a `Map`.
 *
 * @throws {JsonError} As {@linkcode parseJson} does.
 */
export function parseExactJson(text: string): ExactJson {
  if (!BEYOND_JSON_PARSE.test(text) && !INEXACT.test(text)) {
    try {
      return JSON.parse(text);
    } catch {
      // The parser below says where it is wrong.
    }
  }
  return new JsonParser<ExactJson>(text, EXACT).parse();
}

/**
 * Parses the bytes of a JSON file, all of it checked first: also how deep it is nested.
 *
 * @throws {JsonError} If it is none.
 */
export function parseJsonFile(bytes: Uint8Array): JsonValue {
  const scanner = new JsonScanner(withSentinel(bytes));
  scanner.skipValue();
  scanner.finish();
  return parseJson(decodeText(bytes));
}

/**
 * The text of JSON.
 *
 * @throws {JsonError} If it is not UTF-8.
 */
export function decodeText(bytes: Uint8Array): string {
  try {
    return strictUtf8Text(bytes);
  } catch {
    throw new JsonError(0, "its text is not UTF-8");
  }
}

/** A constructor that returns the object it is given: what extends it adds fields to that object. */
class Given {
  constructor(object: object) {
    return object;
  }
}

/**
 * The text that an object was parsed from, beside its own properties: JavaScript knows no `1.0` and
 * no order of the keys `10` and `2`, so that what is written unchanged is written by its text.
 *
 * A private field, which nobody sees, and which costs a tenth of what a `WeakMap` does.
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

/** Has a value that was just parsed, if it is a list or an object, remember its text. */
function keepText<Value extends JsonValue>(
  value: Value,
  text: string,
): Value {
  if (typeof value === "object" && value !== null) new KeptText(value, text);
  return value;
}

/** The text that a value was parsed from, if it is a list or an object that {@linkcode keepText} knows. */
export function keptText(value: JsonValue): string | undefined {
  return typeof value === "object" && value !== null
    ? KeptText.of(value)
    : undefined;
}
