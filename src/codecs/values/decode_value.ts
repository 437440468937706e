import { strictUtf8Text, withoutByteOrderMark } from "../../base/utf8.ts";
import { parseExactJson, parsePlainJson } from "../json/value.ts";
import type { ValueDecoding } from "./value_type.ts";

/** A whole number as Python reads it. */
const INTEGER = /^\s*[+-]?\d+(_\d+)*\s*$/;
/** A float as Python writes it. */
const FLOAT = /^\s*[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?\s*$/;
const NO_NUMBERS: Readonly<Record<string, number>> = {
  __proto__: null as never,
  nan: NaN,
  inf: Infinity,
  "-inf": -Infinity,
};
/** Longest text of a whole number: making a number of it takes the square of its length. */
const LONGEST_NUMBER = 4300; // as Python has it

// Codecs are loaded when the first value needs them.
const DECODERS: Readonly<
  Record<
    Extract<ValueDecoding, string>,
    (bytes: Uint8Array<ArrayBuffer>) => unknown
  >
> = {
  bytes: (bytes) => bytes,
  float: floatIn,
  async image(bytes) {
    const { imageCodec } = await import("../image/choose_codec.ts");
    return await (await imageCodec()).decodeWithAlpha(bytes);
  },
  integer: integerIn,
  // Python's `json.loads` takes bytes with a byte order mark as well.
  json: (bytes) => parsePlainJson(withoutByteOrderMark(textIn(bytes))),
  async msgpack(bytes) {
    const { readMsgpack } = await import("../msgpack/read_msgpack.ts");
    return readMsgpack(bytes);
  },
  async npy(bytes) {
    const { readNpy } = await import("../numpy/npy.ts");
    return readNpy(bytes);
  },
  async pickle(bytes) {
    const { readPickle } = await import("../pickle/read_pickle.ts");
    return readPickle(bytes);
  },
  utf8: textIn,
};

/**
 * Decodes a value: to a text, number (a bigint beyond 2^53), picture, array, or plain data; videos and what nobody
 * knows stay bytes. Nothing is executed: of pickles only those of plain data are read.
 *
 * @param bytes May be kept, and their memory shared.
 * @returns The value, or a promise of it.
 * @throws What is wrong with the bytes.
 */
export function decodeAs(
  decoding: ValueDecoding,
  bytes: Uint8Array<ArrayBuffer>,
): unknown {
  if (typeof decoding === "string") return DECODERS[decoding](bytes);
  if (typeof decoding === "function") return decoding(bytes);
  return import(decoding.module).then(({ decodeValue }) =>
    decodeValue(bytes, ...decoding.args)
  );
}

/**
 * Decodes a value to what other formats can store: as {@linkcode decodeAs}, but pictures and pickles stay encoded, and
 * plain data tell `1.0` from `1`.
 *
 * @param bytes May be kept, and their memory shared.
 * @throws What is wrong with the bytes.
 */
export function decodePortable(
  decoding: ValueDecoding,
  bytes: Uint8Array<ArrayBuffer>,
): unknown {
  switch (decoding) {
    case "image":
    case "pickle":
      return bytes;
    case "json":
      return parseExactJson(withoutByteOrderMark(textIn(bytes)));
    case "msgpack":
      return import("../msgpack/read_msgpack.ts").then(({ readMsgpack }) =>
        readMsgpack(bytes, { keepFloats: true })
      );
    default:
      return decodeAs(decoding, bytes);
  }
}

/**
 * Decodes UTF-8.
 *
 * @throws {TypeError} If it is none.
 */
export function textIn(bytes: Uint8Array): string {
  try {
    return strictUtf8Text(bytes);
  } catch (cause) {
    throw new TypeError("its text is not UTF-8", { cause });
  }
}

/**
 * Reads a text of a whole number, as Python's `int` does.
 *
 * @returns A bigint beyond 2^53.
 * @throws {TypeError} If it is none.
 */
export function integerIn(bytes: Uint8Array): number | bigint {
  const text = textIn(bytes);
  const isWhole = text.length <= LONGEST_NUMBER && INTEGER.test(text) &&
    !text.includes("\ufeff"); // white space here, and not in Python
  if (!isWhole) {
    throw new TypeError("it is no whole number");
  }
  const plain = text.replaceAll("_", "");
  const number = Number(plain);
  return Number.isSafeInteger(number)
    ? number + 0 // and not -0
    : BigInt(plain.trim().replace("+", ""));
}

function floatIn(bytes: Uint8Array): number {
  const text = textIn(bytes);
  const special = NO_NUMBERS[text.trim()];
  if (special !== undefined) return special;
  if (FLOAT.test(text)) return Number(text);
  throw new TypeError("it is no number");
}
