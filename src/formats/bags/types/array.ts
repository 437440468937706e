import {
  arrayFromBytes,
  encodeArray,
  swapBytes,
} from "../../../codecs/numpy/array_bytes.ts";
import { dtypeFromName, parseDtype } from "../../../codecs/numpy/dtype.ts";
import {
  isShape,
  type NdArray,
  type NpyContent,
  NumpyError,
} from "../../../codecs/numpy/nd_array.ts";
import { readMsgpack, writeMsgpack } from "../../../codecs/msgpack/mod.ts";
import { ValueError } from "./value_error.ts";

/**
 * The type `array`. Without arguments, as in granular from 0.8.1 on, it is msgpack
 * `[dtype.str, shape, bytes]`; with them, as in bags, the bare elements: `array(float32,64,128)`.
 *
 * @param array Its type must be that of the arguments, and its shape too.
 * @param args NumPy's word for the element type, and the length of each dimension.
 * @throws {TypeError} If data, shape and type do not fit each other, or the arguments.
 * @throws {ValueError} If the arguments mean nothing.
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
    `An array of '${dtype}' (${shape.join(", ")}) is no array(${
      args.join(",")
    }): convert it, or change the spec`,
  );
}

/**
 * Reads a value of the type `array`, in any form. It shares the memory of `bytes` where the
 * elements lie aligned and little-endian.
 *
 * @throws {MsgpackError} If they should be msgpack and are not.
 * @throws {ValueError} If the bytes are not the array, its type is not supported, as that of
 * Python objects, or the arguments mean nothing.
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

/** A header has a type's name and the lengths of 32 dimensions at most, of 9 bytes each. */
const LARGEST_HEADER = 1024;

/** Of a list of two in msgpack. */
const PAIR = 0x92;

/**
 * The array as granular 0.7.0 and 0.8.0 wrote it (commits 4bcc83f and 49e83e9), and later ones cannot
 * read it: the size of a header as u32, the header, msgpack `[dtype.str, shape]`, and the bare elements.
 * It is like no other: what 0.8.1 writes starts with a list of three, and letters of the type's name.
 */
export function decodeHeaded(bytes: Uint8Array): NdArray | undefined {
  if (bytes[4] !== PAIR) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const size = view.getUint32(0, true);
  if (size > LARGEST_HEADER) return undefined;
  const header = readMsgpack(bytes.subarray(4, 4 + size));
  const [dtype, shape] = Array.isArray(header) ? header : [];
  return typeof dtype === "string" && isShape(shape)
    ? fromBytes(dtype, shape, bytes.subarray(4 + size))
    : undefined;
}

/** Tells values that arrays are encoded from: numbers or texts. */
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
      }); behind the element type stand lengths`,
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
