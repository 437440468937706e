import {
  type PackableValue,
  readMsgpack,
  writeMsgpack,
} from "../../../codecs/msgpack/mod.ts";
import { decodeArrayValue, encodeArrayValue } from "./array.ts";
import type { Generation } from "../dataset/generation.ts";
import type { Decoders, Encoders } from "./codec_types.ts";
import { intDecoder, intEncoder, intOptionsOf } from "./int.ts";
import { decodeImageValue, encodeJpegValue, encodePngValue } from "./media.ts";
import { decodeUtf8, encodeBytes, encodeUtf8 } from "./text.ts";
import { decodeTree, decodeTreeWithFloats, encodeTree } from "./tree.ts";

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
 *
 * @example A type of one's own beside them
 * ```ts
 * import { encodersOf } from "@recordfs/recordfs/bags";
 *
 * const encoders = {
 *   ...encodersOf(3),
 *   point: (point: { x: number; y: number }) => new Uint8Array(Float32Array.of(point.x, point.y).buffer),
 * };
 * console.log(encoders.point({ x: 1, y: 2 }).length); // 8
 * ```
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

/** Options of {@linkcode decodersOf}. */
export interface DecoderOptions {
  /**
   * Whether a float that is a whole number is a `MsgpackFloat` in values of `msgpack` and `tree`, so
   * that they are the same again when they are written; unless given, it is a number as `1` is.
   */
  readonly keepFloats?: boolean | undefined;
}

/**
 * The decoders for the types that bags and granular ship. Each gives what the encoder of
 * {@linkcode encodersOf} takes; `mp4` and `webm` the bytes, for frames see
 * {@linkcode videoDecoder}. Generation 1 has one for `arraytree`, too, as granular 0.8.1 called
 * `tree`. There is none for other words.
 *
 * @example An array
 * ```ts
 * import { decodersOf, encodersOf } from "@recordfs/recordfs/bags";
 * import assert from "node:assert/strict";
 *
 * const array = { dtype: "<f4", shape: [2], data: Float32Array.of(1, 2) };
 * const bytes = await encodersOf(3).array!(array as never);
 * assert.deepEqual(decodersOf(3).array!(bytes.slice()), array);
 * ```
 */
export function decodersOf(
  generation: Generation,
  { keepFloats = false }: DecoderOptions = {},
): Decoders {
  return {
    __proto__: NO_WORDS,
    bytes: asBytes,
    utf8: decodeUtf8,
    int: intDecoder(intOptionsOf(generation)),
    i64: intDecoder(I64, "i64"),
    u64: intDecoder(U64, "u64"),
    msgpack: (bytes) => readMsgpack(bytes, { keepFloats }),
    array: decodeArrayValue,
    tree: keepFloats ? decodeTreeWithFloats : decodeTree,
    ...generation === 1
      ? { arraytree: keepFloats ? decodeTreeWithFloats : decodeTree }
      : {},
    jpeg: decodeImageValue,
    jpg: decodeImageValue,
    png: decodeImageValue,
    mp4: asBytes,
    webm: asBytes,
  };
}
