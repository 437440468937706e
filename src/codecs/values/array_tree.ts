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

/** A value of the type `tree`: one of MessagePack, with arrays in it. */
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

/** A value that the type `tree` encodes. */
export type TreeContent =
  | TreeValue
  | MsgpackFloat
  | readonly TreeContent[]
  | { readonly [key: string]: TreeContent }
  | ReadonlyMap<PackableValue, TreeContent>;

/** The beginning of an array's list. */
const MARK = "_";

/** Deeper values are handed on as they are: MessagePack refuses them. */
const DEEPEST = 1024;

/**
 * The type `tree` (granular): msgpack in which an array is `["_", dtype.str, shape, bytes]`.
 *
 * @param value Plain data as {@linkcode writeMsgpack} takes, and arrays anywhere in it but in
 * keys. An object of just `dtype`, `shape` and `data` that fit each other is an array; a `Map` of
 * them is a map.
 * @throws {TypeError} If it holds something else; the message says where.
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
  return made ?? value as PackableValue; // which MessagePack knows, or refuses
}

/**
 * Reads a value of the type `tree`.
 *
 * A list of four that starts with `"_"` is an array where the rest is an element type, a shape and
 * as many bytes as these take, and otherwise a list; Python fails at the latter. A map that
 * looks like an array's fields becomes a `Map`, so that it is written as a map again.
 *
 * @param bytes The arrays share their memory where their elements lie aligned and little-endian.
 * @throws {MsgpackError} If it is not sound MessagePack.
 */
export function decodeTree(bytes: Uint8Array): TreeValue {
  return withArrays(readMsgpack(bytes)) as TreeValue;
}

/** {@linkcode decodeTree}, but a float that is a whole number is a {@linkcode MsgpackFloat}. */
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

/** The array that a list stands for; `undefined` if it is a list. */
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

/** A list, map or plain object of what is made of the items of one; `undefined` for anything else. */
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
