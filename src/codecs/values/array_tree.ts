import {
  arrayFromBytes,
  encodeArray,
  isNdArray,
} from "../numpy/array_bytes.ts";
import { isShape, type NdArray, NumpyError } from "../numpy/nd_array.ts";
import {
  MsgpackExt,
  MsgpackFloat,
  MsgpackTimestamp,
  type MsgpackValue,
  type PackableValue,
  readMsgpack,
  writeMsgpack,
} from "../msgpack/mod.ts";

/** Value of the type `tree`: MessagePack with arrays in it. */
export type TreeValue =
  | null
  | boolean
  | number
  | bigint
  | string
  | Uint8Array
  | MsgpackExt
  | MsgpackTimestamp
  | NdArray
  | TreeValue[]
  | { [key: string]: TreeValue }
  | Map<MsgpackValue, TreeValue>;

/** Value that the type `tree` encodes. */
export type TreeContent =
  | TreeValue
  | MsgpackFloat
  | readonly TreeContent[]
  | { readonly [key: string]: TreeContent }
  | ReadonlyMap<PackableValue, TreeContent>;

/** First item of an array's list. */
const MARK = "_";

/** Depth from which values are passed on unchanged: MessagePack rejects them. */
const DEEPEST = 1024;

/**
 * Encodes a value of the type `tree` (granular): msgpack in which an array is `["_", dtype.str, shape, bytes]`.
 *
 * @param value Plain data as {@linkcode writeMsgpack} accepts, with arrays anywhere but in keys. An object of only
 * `dtype`, `shape` and `data` that match each other is an array; a `Map` of them is a map.
 * @throws {TypeError} If it holds anything else; the message says where.
 */
export function encodeTree(value: TreeContent): Uint8Array<ArrayBuffer> {
  return writeMsgpack(packable(value, 0));
}

function packable(value: TreeContent, depth: number): PackableValue {
  if (isLeaf(value) || depth > DEEPEST) return value as PackableValue;
  if (isNdArray(value)) {
    const { dtype, shape, elements } = encodeArray(value);
    return [MARK, dtype, [...shape], elements];
  }
  const made = mapItems(value, (item) => packable(item, depth + 1));
  return made ?? value as PackableValue; // MessagePack writes or rejects it
}

/**
 * Decodes a value of the type `tree`.
 *
 * A list of four that starts with `"_"` is an array if the rest is an element type, a shape and as many bytes as these
 * need; otherwise it is a list, at which Python fails. A map that looks like an array's fields becomes a `Map`, so that
 * it is written as a map again.
 *
 * @param bytes The arrays share their memory if their elements are aligned and little-endian.
 * @throws {MsgpackError} If it is not valid MessagePack.
 */
export function decodeTree(bytes: Uint8Array): TreeValue {
  return withArrays(readMsgpack(bytes)) as TreeValue;
}

/** {@linkcode decodeTree}, with integral floats as {@linkcode MsgpackFloat}. */
export function decodeTreeWithFloats(bytes: Uint8Array): TreeContent {
  return withArrays(readMsgpack(bytes, { keepFloats: true }));
}

function withArrays(value: PackableValue): TreeContent {
  if (isLeaf(value)) return value as TreeContent;
  const array = Array.isArray(value) ? arrayOf(value) : undefined;
  const made = array ?? mapItems(value, withArrays);
  if (made === undefined) return value as TreeContent;
  return array === undefined && isNdArray(made)
    ? new Map(Object.entries(made))
    : made;
}

/** Returns the array that a list encodes, or `undefined` if it is an ordinary list. */
function arrayOf(list: PackableValue[]): NdArray | undefined {
  const [mark, dtype, shape, elements] = list;
  const isMarked = mark === MARK && list.length === 4 &&
    typeof dtype === "string" && isShape(shape) &&
    elements instanceof Uint8Array;
  if (!isMarked) return undefined;
  try {
    return arrayFromBytes(dtype, shape, elements);
  } catch (error) {
    if (error instanceof NumpyError) return undefined;
    throw error;
  }
}

function isLeaf(value: unknown): boolean {
  return typeof value !== "object" || value === null ||
    value instanceof Uint8Array;
}

/** Maps the items of a list, map or plain object; returns `undefined` for anything else. */
function mapItems<T>(value: unknown, make: (item: never) => T) {
  if (Array.isArray(value)) return value.map((item) => make(item as never));
  const ofEntry = ([key, item]: [string, unknown]) =>
    [key, make(item as never)] as const;
  if (value instanceof Map) return new Map([...value].map(ofEntry));
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null
    ? Object.fromEntries(Object.entries(value as object).map(ofEntry))
    : undefined;
}
