import { bytesOf } from "../../../base/bytes_of.ts";
import { formatFloat, formatJson } from "../../../codecs/json/format.ts";
import { assertPlainJson } from "../../../codecs/json/plain_json.ts";
import type { JsonValue } from "../../../codecs/json/value.ts";
import { encodeArray } from "../../../codecs/numpy/array_bytes.ts";
import type { NpyContent } from "../../../codecs/numpy/npy.ts";
import {
  ARRAY_TYPES,
  type Encoding,
  LENGTHS,
  type ListEncoding,
  MOST_DIMENSIONS,
  scalarSize,
} from "../../../tree/field_shards/encoding.ts";
import { listOf } from "../../../tree/field_shards/list_value.ts";
import { SCALARS } from "./encoding.ts";

/** Decimal that Python can write and read. */
const DECIMAL = /^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$/;

/** Encodes a value. Throws a `TypeError` if it does not fit the encoding, a `RangeError` if it is out of range. */
export function encodeValue(encoding: Encoding, value: unknown): Uint8Array {
  const { name, form, list } = encoding;
  if (list !== undefined) return encodeList(encoding, list, value);
  if (form === "json") return encodeNumber(encoding, value);
  if (name === "ndarray") return encodeElements(encoding, value as NpyContent);
  switch (name) {
    case "str":
      return textBytes(textIn(value, encoding));
    case "str_decimal": {
      const text = textIn(value, encoding);
      if (!DECIMAL.test(text)) {
        throw unfit(value, encoding, "a decimal number as a string");
      }
      return textBytes(text);
    }
    case "str_int":
      return textBytes(String(integerIn(value, encoding)));
    case "str_float":
      if (typeof value !== "number") throw unfit(value, encoding, "a number");
      return textBytes(pythonFloat(value));
    case "json": {
      const bytes = bytesOf(value);
      if (bytes !== undefined) return bytes;
      assertPlainJson(value, false, "JSON");
      return textBytes(formatJson(value as JsonValue));
    }
    default: {
      const bytes = bytesOf(value);
      if (bytes === undefined) throw unfit(value, encoding, "bytes");
      return bytes;
    }
  }
}

function encodeList(
  encoding: Encoding,
  list: ListEncoding,
  value: unknown,
): Uint8Array {
  if (!Array.isArray(value)) {
    throw unfit(value, encoding, "a list of the bytes of each element");
  }
  if (value.length === 0 && !list.mayBeEmpty) {
    throw new TypeError(
      `A value of '${encoding.word}' needs at least one element: the ` +
        "original's readers refuse it otherwise",
    );
  }
  const elements = Array.from(
    value,
    (element) => encodeValue(list.element, element),
  );
  return listOf(list, elements);
}

function encodeNumber(encoding: Encoding, value: unknown): Uint8Array {
  const { name } = encoding;
  const kind = SCALARS[name]!;
  const bytes = new Uint8Array(scalarSize(kind));
  const view = new DataView(bytes.buffer);
  const set = (number: unknown) =>
    Reflect.apply(view[`set${kind}`], view, [0, number, true]);
  if (kind.startsWith("Float")) {
    if (typeof value !== "number") throw unfit(value, encoding, "a number");
    set(value);
    return bytes;
  }
  const number = integerIn(value, encoding);
  set(kind.startsWith("Big") ? number : Number(number));
  if (BigInt(view[`get${kind}`](0, true)) === number) return bytes;
  throw new RangeError(`${number} is out of the range of '${name}'`);
}

function encodeElements(encoding: Encoding, value: NpyContent): Uint8Array {
  const isArray = typeof value === "object" && value !== null &&
    ArrayBuffer.isView(value.data);
  if (!isArray) throw unfit(value, encoding, "an array, { data, shape }");
  const { dtype, shape, elements } = encodeArray(value);
  const number = [...ARRAY_TYPES].find(([, [, short]]) => short === dtype)?.[0];
  const isOther = encoding.dtype !== undefined && encoding.dtype !== dtype;
  if (number === undefined || isOther) {
    throw new TypeError(
      `An array of '${dtype}' does not fit '${encoding.word}'`,
    );
  }
  if (encoding.shape !== undefined) {
    const isSame = shape.length === encoding.shape.length &&
      shape.every((length, i) => length === encoding.shape![i]);
    if (isSame) return elements;
    throw new TypeError(
      `An array of shape (${shape.join(", ")}) does not fit '${encoding.word}'`,
    );
  }
  // The original rejects these too, and its readers may not read them.
  if (
    shape.length === 0 || shape.length > MOST_DIMENSIONS || shape.includes(0)
  ) {
    throw new TypeError(
      `An array of shape (${shape.join(", ")}) cannot be stored: it needs ` +
        `from 1 to ${MOST_DIMENSIONS} dimensions, and none of length 0`,
    );
  }
  const head = shapeBytes(shape);
  const typed = encoding.dtype === undefined ? 1 : 0;
  const bytes = new Uint8Array(typed + head.length + elements.length);
  if (typed === 1) bytes[0] = number;
  bytes.set(head, typed);
  bytes.set(elements, typed + head.length);
  return bytes;
}

/** Encodes the number of dimensions and the width code in a byte, then the lengths in their smallest common width. */
function shapeBytes(shape: readonly number[]): Uint8Array {
  const longest = Math.max(...shape);
  const width = longest < 2 ** 8 ? 0 : longest < 2 ** 16 ? 1 : 2;
  if (longest >= 2 ** 32) {
    throw new RangeError(`An array with a dimension of ${longest} is too long`);
  }
  const size = 1 << width;
  const bytes = new Uint8Array(1 + shape.length * size);
  const view = new DataView(bytes.buffer);
  bytes[0] = shape.length << 2 | width;
  for (const [i, length] of shape.entries()) {
    view[`set${LENGTHS[width]!}`](1 + i * size, length, true);
  }
  return bytes;
}

function integerIn(value: unknown, encoding: Encoding): bigint {
  const isWhole = typeof value === "bigint" || Number.isSafeInteger(value);
  if (!isWhole) throw unfit(value, encoding, "a whole number");
  return BigInt(value as number | bigint);
}

function textIn(value: unknown, encoding: Encoding): string {
  if (typeof value !== "string") throw unfit(value, encoding, "a text");
  if (value.isWellFormed()) return value;
  throw new TypeError(
    "A string with a lone surrogate cannot be encoded as UTF-8",
  );
}

function pythonFloat(value: number): string {
  if (Number.isNaN(value)) return "nan";
  if (Number.isFinite(value)) return formatFloat(value);
  return value > 0 ? "inf" : "-inf";
}

function textBytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

function unfit(value: unknown, { word }: Encoding, wanted: string): TypeError {
  const what = value === null ? "null" : typeof value;
  return new TypeError(`A value of '${word}' must be ${wanted}, not ${what}`);
}
