import { NumpyError } from "./numpy_error.ts";
import type { NumericArray } from "./nd_array.ts";

/** An element type. */
export interface Dtype {
  /** NumPy's name of it in little-endian order. */
  readonly name: string;
  /** Bytes of one element. */
  readonly itemSize: number;
  /** Bytes of what byte order applies to: half a complex number, one code point of text. */
  readonly unitSize: number;
  /** Whether the array that was named has its bytes the other way round. */
  readonly bigEndian: boolean;
  /** What the elements are held in; text is not. */
  readonly holder: Holder | undefined;
}

/** A typed array's class. */
export interface Holder {
  readonly name: string;
  readonly BYTES_PER_ELEMENT: number;
  new (
    buffer: ArrayBufferLike,
    byteOffset: number,
    length: number,
  ): NumericArray;
}

/** By kind and size, what holds one unit. */
const HOLDERS: Record<string, Holder> = {
  b1: Uint8Array,
  i1: Int8Array,
  i2: Int16Array,
  i4: Int32Array,
  i8: BigInt64Array,
  u1: Uint8Array,
  u2: Uint16Array,
  u4: Uint32Array,
  u8: BigUint64Array,
  f2: Float16Array,
  f4: Float32Array,
  f8: Float64Array,
  c8: Float32Array,
  c16: Float64Array,
  M8: BigInt64Array,
  m8: BigInt64Array,
};

/** Bytes of a code point in an array of text. */
const CODE_POINT = 4;

/**
 * Reads NumPy's name of an element type, such as `<f4` or `>M8[ns]`.
 *
 * @throws {NumpyError} If there is nothing here to hold such elements.
 */
export function parseDtype(text: string): Dtype {
  const match = /^([<>|])([a-zA-Z])(\d{1,9})(\[\w+\])?$/.exec(text);
  if (match === null) throw unsupported(text);
  const [, order, kind, digits, unit = ""] = match as unknown as string[];
  const size = Number(digits);
  const bigEndian = order === ">";
  if (unit !== "" && kind !== "M" && kind !== "m") throw unsupported(text);
  if (size === 0) throw unsupported(text);
  if (kind === "S" || kind === "V") {
    const name = `|${kind}${size}`;
    const unitSize = 1;
    return { name, itemSize: size, unitSize, bigEndian, holder: Uint8Array };
  }
  if (kind === "U") {
    const [itemSize, unitSize] = [CODE_POINT * size, CODE_POINT];
    return {
      name: `<U${size}`,
      itemSize,
      unitSize,
      bigEndian,
      holder: undefined,
    };
  }
  const holder = HOLDERS[`${kind}${size}`];
  if (holder === undefined) throw unsupported(text);
  return {
    name: `${size === 1 ? "|" : "<"}${kind}${size}${unit}`,
    itemSize: size,
    unitSize: holder.BYTES_PER_ELEMENT,
    bigEndian,
    holder,
  };
}

function unsupported(text: string): NumpyError {
  const reason = text.startsWith("|O")
    ? "it holds Python objects, which only Python can make again"
    : "it has no counterpart here";
  return new NumpyError(
    "unsupported-dtype",
    `Arrays of NumPy type '${
      text.slice(0, 80)
    }' are not supported: ${reason}; ` +
      "use numbers or text",
  );
}
