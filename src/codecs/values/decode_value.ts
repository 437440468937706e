import { strictUtf8Text, withoutByteOrderMark } from "../../base/utf8.ts";
import { parseExactJson, parsePlainJson } from "../json/value.ts";
import type { ValueDecoding } from "./value_type.ts";

/** Integer as Python reads it. */
const INTEGER = /^\s*[+-]?\d+(_\d+)*\s*$/;
/** Float as Python writes it. */
const FLOAT = /^\s*[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?\s*$/;
const NO_NUMBERS: Readonly<Record<string, number>> = {
  __proto__: null as never,
  nan: NaN,
  inf: Infinity,
  "-inf": -Infinity,
};
/** Python's limit of an integer's digits: conversion takes quadratic time. */
const LONGEST_NUMBER = 4300;

// Codecs are loaded on first use.
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
  // Python's `json.loads` also accepts bytes with a byte order mark.
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
 * Decodes a value to a text, number (a bigint beyond 2^53), picture, array, or plain data; videos and unknown types
 * stay bytes. Never executes anything: reads only pickles of plain data.
 *
 * @param bytes The result may retain and share their memory.
 * @returns The value, or a promise of it.
 * @throws If the bytes are invalid.
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
 * plain data distinguish `1.0` from `1`.
 *
 * @param bytes The result may retain and share their memory.
 * @throws If the bytes are invalid.
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

/** @throws {TypeError} If the bytes are not UTF-8. */
export function textIn(bytes: Uint8Array): string {
  try {
    return strictUtf8Text(bytes);
  } catch (cause) {
    throw new TypeError("its text is not UTF-8", { cause });
  }
}

/** Parses an integer, as Python's `int` does; to a bigint beyond 2^53. Throws a `TypeError` if it is not one. */
export function integerIn(bytes: Uint8Array): number | bigint {
  const text = textIn(bytes);
  const isWhole = text.length <= LONGEST_NUMBER && INTEGER.test(text) &&
    !text.includes("\ufeff"); // white space in JavaScript, but not in Python
  if (!isWhole) {
    throw new TypeError("it is not a whole number");
  }
  const plain = text.replaceAll("_", "");
  const number = Number(plain);
  return Number.isSafeInteger(number)
    ? number + 0 // turns -0 into 0
    : BigInt(plain.trim().replace("+", ""));
}

function floatIn(bytes: Uint8Array): number {
  const text = textIn(bytes);
  const special = NO_NUMBERS[text.trim()];
  if (special !== undefined) return special;
  if (FLOAT.test(text)) return Number(text);
  throw new TypeError("it is not a number");
}
