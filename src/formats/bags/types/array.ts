import { viewOf } from "../../../base/view_of.ts";
import {
  arrayFromBytes,
  encodeArray,
  swapBytes,
} from "../../../codecs/numpy/array_bytes.ts";
import { dtypeFromName, parseDtype } from "../../../codecs/numpy/dtype.ts";
import {
  isShape,
  type NdArray,
  NumpyError,
} from "../../../codecs/numpy/nd_array.ts";
import type { NpyContent } from "../../../codecs/numpy/npy.ts";
import { readMsgpack, writeMsgpack } from "../../../codecs/msgpack/mod.ts";
import { ValueError } from "./value_error.ts";

/**
 * Encodes the type `array`. Without arguments, as in granular since 0.8.1, the value is msgpack `[dtype.str, shape,
 * bytes]`; with them, as in bags, the bare elements: `array(float32,64,128)`. These arguments are NumPy's name of the
 * element type, and the length of each dimension; the array must match them.
 *
 * @throws {TypeError} If data, shape and type do not fit each other, or the arguments.
 * @throws {ValueError} If the arguments are invalid.
 */
export function encodeArrayValue(
  array: NpyContent,
  ...args: string[]
): Uint8Array {
  if (!isContent(array)) {
    throw new TypeError(
      `A value of type 'array' must be an array, { dtype, shape, data } or in JSON ` +
        `{"$array": {"dtype", "shape", "values"}}, not ${named(array)}`,
    );
  }
  const { dtype, shape, elements } = encodeArray(array);
  if (args.length === 0) return writeMsgpack([dtype, [...shape], elements]);
  const wanted = parseArguments(args);
  const { name, bigEndian, unitSize } = parseDtype(wanted.dtype);
  const isSame = dtype === name && shape.length === wanted.shape.length &&
    shape.every((length, i) => length === wanted.shape[i]);
  if (isSame) {
    return bigEndian ? swapBytes(elements.slice(), unitSize) : elements;
  }
  throw new TypeError(
    `An array of '${dtype}' (${shape.join(", ")}) is not an array(${
      args.join(",")
    }): convert it, or change the spec`,
  );
}

/**
 * Decodes a value of the type `array`, in any form. Shares the memory of `bytes` if the elements are aligned and
 * little-endian.
 *
 * @throws {MsgpackError} If the bytes should be msgpack and are not.
 * @throws {ValueError} If the bytes are not the array, its element type is not supported, such as Python objects, or
 * the arguments are invalid.
 */
export function decodeArrayValue(
  bytes: Uint8Array,
  ...args: string[]
): NdArray {
  if (args.length > 0) {
    const { dtype, shape } = parseArguments(args);
    return fromBytes(dtype, shape, bytes);
  }
  const headed = decodeHeaded(bytes);
  if (headed !== undefined) return headed;
  const value = readMsgpack(bytes);
  const [dtype, shape, elements] = Array.isArray(value) && value.length === 3
    ? value
    : [];
  if (
    typeof dtype === "string" && isShape(shape) &&
    elements instanceof Uint8Array
  ) return fromBytes(dtype, shape, elements);
  throw new ValueError(
    "bad-value",
    "array",
    "it is not a list of an element type, a shape and bytes",
  );
}

/** Largest header: a dtype string and the lengths of at most 32 dimensions, 9 bytes each. */
const LARGEST_HEADER = 1024;

/** First byte of a msgpack array of two items. */
const PAIR = 0x92;

/**
 * Decodes an array as written by granular 0.7.0 and 0.8.0 (commits 4bcc83f and 49e83e9), which later versions cannot
 * read: the size of the header as u32; the header, msgpack `[dtype.str, shape]`; and the bare elements. No other form
 * looks like this: values of 0.8.1 start with an array of three and the letters of the dtype.
 */
export function decodeHeaded(bytes: Uint8Array): NdArray | undefined {
  if (bytes[4] !== PAIR) return undefined;
  const view = viewOf(bytes);
  const size = view.getUint32(0, true);
  if (size > LARGEST_HEADER) return undefined;
  const header = readMsgpack(bytes.subarray(4, 4 + size));
  const [dtype, shape] = Array.isArray(header) ? header : [];
  return typeof dtype === "string" && isShape(shape)
    ? fromBytes(dtype, shape, bytes.subarray(4 + size))
    : undefined;
}

/** Whether a value can be encoded as an array: numbers or texts. */
function isContent(value: unknown): value is NpyContent {
  if (typeof value !== "object" || value === null) return false;
  const { data, dtype, shape } = value as Partial<NpyContent>;
  const isData = Array.isArray(data)
    ? data.every((text) => typeof text === "string")
    : ArrayBuffer.isView(data) && !(data instanceof DataView);
  return isData && (dtype === undefined || typeof dtype === "string") &&
    (shape === undefined || Array.isArray(shape));
}

function named(value: unknown): string {
  if (value === null) return "null";
  if (typeof value !== "object") return `a ${typeof value}`;
  return Array.isArray(value) ? "a list" : "an object without them";
}

function fromBytes(
  dtype: string,
  shape: readonly number[],
  elements: Uint8Array,
): NdArray {
  try {
    return arrayFromBytes(dtype, shape, elements);
  } catch (cause) {
    if (!(cause instanceof NumpyError)) throw cause;
    throw new ValueError("bad-value", "array", cause.message, cause);
  }
}

function parseArguments(
  [name, ...lengths]: readonly string[],
): { dtype: string; shape: number[] } {
  const shape = lengths.map((text) =>
    /^ *\d{1,15} *$/.test(text) ? Number(text) : NaN
  );
  if (!isShape(shape)) {
    throw new ValueError(
      "bad-arguments",
      "array",
      `(${
        [name, ...lengths].join(",").slice(0, 80)
      }); the element type must be followed by lengths`,
    );
  }
  try {
    const dtype = dtypeFromName(name!.trim());
    parseDtype(dtype);
    return { dtype, shape };
  } catch (cause) {
    throw new ValueError(
      "bad-arguments",
      "array",
      (cause as Error).message,
      cause,
    );
  }
}
