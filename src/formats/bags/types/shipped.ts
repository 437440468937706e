import {
  type PackableValue,
  readMsgpack,
  writeMsgpack,
} from "../../../codecs/msgpack/mod.ts";
import { decodeArrayValue, encodeArrayValue } from "./array.ts";
import type { Generation } from "../dataset/dataset_names.ts";
import { intDecoder, intEncoder, intOptionsOf } from "./int.ts";
import { decodeImageValue, encodeJpegValue, encodePngValue } from "./media.ts";
import { decodeUtf8, encodeBytes, encodeUtf8 } from "./text.ts";
import {
  decodeTree,
  decodeTreeWithFloats,
  encodeTree,
} from "../../../codecs/values/array_tree.ts";
import type { ValueType } from "../dataset/spec.ts";

const I64 = { size: 8, signed: true } as const;
const U64 = { size: 8, signed: false } as const;

/** Type names are arbitrary: without a prototype, `constructor` finds no encoder. */
const NO_WORDS = null as never;

const asBytes = (bytes: Uint8Array) => bytes;

/**
 * Returns the encoders for the types that bags and granular ship (`formats.py` of both). The generations differ in
 * `int`; see {@linkcode intOptionsOf}.
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
 * @example A custom type
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

/**
 * Returns the decoders for the types that bags and granular ship. Each returns what the encoder of
 * {@linkcode encodersOf} takes; those of `mp4` and `webm` return bytes (for frames see {@linkcode videoDecoder}).
 * Generation 1 also has one for `arraytree`, granular 0.8.1's name of `tree`. Other types have none.
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
  { keepFloats = false }: {
    /**
     * Whether integral floats in `msgpack` and `tree` become `MsgpackFloat`, so that they are written as floats again.
     * Defaults to `false`: `1.0` becomes the number 1.
     */
    readonly keepFloats?: boolean | undefined;
  } = {},
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

/** Decoders to values that other formats can store: pictures stay encoded, and plain data tell `1.0` from `1`. */
export function portableDecoders(generation: Generation): Decoders {
  return {
    ...decodersOf(generation, { keepFloats: true }),
    jpeg: asBytes,
    jpg: asBytes,
    png: asBytes,
  };
}

/** Limit for values that become objects: objects of one byte each take a hundred times as much memory. */
const LARGEST_OF_OBJECTS = 16 * 1024 * 1024;

/** Limit for all other values: decoding takes a few times their size. */
const LARGEST = 2 ** 30;

/** Types whose values become objects, any number of them. */
const OF_OBJECTS = ["arraytree", "msgpack", "tree"];

/** Largest value of a type, in bytes, that is decoded unasked: serving or checking must not exhaust memory. */
export function largestValue({ name }: ValueType): number {
  return OF_OBJECTS.includes(name) ? LARGEST_OF_OBJECTS : LARGEST;
}

/**
 * Encoders by type. `array(float32,4)` uses the encoder of that whole word, which is called with the value alone, or
 * that of `array`. Values of types without an encoder are bytes.
 *
 * `never` accepts any type of value. `args` are the type's arguments in the spec of generation 1: `["4", "big"]` for
 * `int(4,big)`.
 */
export type Encoders = Readonly<
  Record<
    string,
    (value: never, ...args: string[]) => Uint8Array | Promise<Uint8Array>
  >
>;

/**
 * Decoders by type, looked up as {@linkcode Encoders} are: each decodes the bytes of a record to a value, or to a
 * promise of one. It may keep and share the memory of `bytes`; `args` are the type's arguments.
 */
export type Decoders = Readonly<
  Record<string, (bytes: Uint8Array<ArrayBuffer>, ...args: string[]) => unknown>
>;

/** Encoder of a type. */
export type Encoder = Encoders[string];

/** Decoder of a type. */
export type Decoder = Decoders[string];

/** Returns the encoder or decoder of a type, if any, and its arguments. `codecs` is `null` if values are bytes. */
export function codecOf<Codec>(
  codecs: Readonly<Record<string, Codec>> | null,
  { word, name, args }: ValueType,
): { readonly codec: Codec | undefined; readonly args: readonly string[] } {
  const own = (word: string) =>
    codecs !== null && Object.hasOwn(codecs, word) ? codecs[word] : undefined;
  const whole = own(word);
  return whole === undefined
    ? { codec: own(name), args }
    : { codec: whole, args: [] };
}
