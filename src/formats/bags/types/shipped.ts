import {
  type PackableValue,
  readMsgpack,
  writeMsgpack,
} from "../../../codecs/msgpack/mod.ts";
import { decodeArrayValue, encodeArrayValue } from "./array.ts";
import type { Decoders, Encoders, Generation } from "./codec_types.ts";
import { intDecoder, intEncoder, intOptionsOf } from "./int.ts";
import { decodeImageValue, encodeJpegValue, encodePngValue } from "./media.ts";
import { decodeUtf8, encodeBytes, encodeUtf8 } from "./text.ts";
import { decodeTree, encodeTree } from "./tree.ts";

const I64 = { size: 8, signed: true } as const;
const U64 = { size: 8, signed: false } as const;

/** Types are any words: `constructor` is no encoder. */
const NO_WORDS = null as never;

const asBytes = (bytes: Uint8Array) => bytes;

/**
 * The encoders for the types that bags and granular ship (`formats.py` of both). The generations
 * differ in `int`; see {@linkcode intOptionsOf}.
 *
 * | type                  | takes                                                              |
 * | --------------------- | ------------------------------------------------------------------ |
 * | `bytes`, `mp4`, `webm` | a view of memory or a buffer; for frames see {@linkcode videoEncoder} |
 * | `utf8`                | `string`                                                           |
 * | `int`, `i64`, `u64`   | `number`, `bigint`                                                 |
 * | `msgpack`             | what {@linkcode writeMsgpack} takes                                |
 * | `array`               | what `writeNpy` takes                                              |
 * | `tree`                | plain data with arrays in it                                       |
 * | `jpeg`, `jpg`, `png`  | an `Image`                                                         |
 */
export function encodersOf(generation: Generation): Encoders {
  return {
    __proto__: NO_WORDS,
    bytes: encodeBytes,
    utf8: encodeUtf8,
    int: intEncoder(intOptionsOf(generation)),
    i64: intEncoder(I64, "i64"),
    u64: intEncoder(U64, "u64"),
    msgpack: (value: PackableValue) => writeMsgpack(value),
    array: encodeArrayValue,
    tree: encodeTree,
    jpeg: encodeJpegValue,
    jpg: encodeJpegValue,
    png: encodePngValue,
    mp4: encodeBytes,
    webm: encodeBytes,
  };
}

/**
 * The decoders for the types that bags and granular ship. Each gives what the encoder of
 * {@linkcode encodersOf} takes; `mp4` and `webm` the bytes, for frames see {@linkcode videoDecoder}. There is none for other words.
 */
export function decodersOf(generation: Generation): Decoders {
  return {
    __proto__: NO_WORDS,
    bytes: asBytes,
    utf8: decodeUtf8,
    int: intDecoder(intOptionsOf(generation)),
    i64: intDecoder(I64, "i64"),
    u64: intDecoder(U64, "u64"),
    msgpack: (bytes) => readMsgpack(bytes),
    array: decodeArrayValue,
    tree: decodeTree,
    jpeg: decodeImageValue,
    jpg: decodeImageValue,
    png: decodeImageValue,
    mp4: asBytes,
    webm: asBytes,
  };
}
