import { type NumericArray, NumpyError } from "./nd_array.ts";

/** An element type. */
export interface Dtype {
  /** NumPy's name of it in little-endian order. */
  readonly name: string;
  /** Bytes of one element. */
  readonly itemSize: number;
  /** Bytes of what byte order applies to: half a complex number, one code point of text. */
  readonly unitSize: number;
  /** True if the array that was named has its bytes the other way round. */
  readonly bigEndian: boolean;
  /** Class of array that holds the elements; text is not held in one. */
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

/** NumPy's words for element types, as `numpy.dtype(word)` takes them. */
const WORDS: Record<string, string> = {
  bool: "|b1",
  bool_: "|b1",
  int8: "|i1",
  int16: "<i2",
  int32: "<i4",
  int64: "<i8",
  int: "<i8",
  uint8: "|u1",
  uint16: "<u2",
  uint32: "<u4",
  uint64: "<u8",
  uint: "<u8",
  float16: "<f2",
  half: "<f2",
  float32: "<f4",
  single: "<f4",
  float64: "<f8",
  double: "<f8",
  float: "<f8",
  complex64: "<c8",
  complex128: "<c16",
  complex: "<c16",
};

/** One letter and a size, with the byte order before it or not. */
const SHORT_FORM = /^([<>=|]?)([a-zA-Z]\d{1,9}|\?)((?:\[\w+\])?)$/;

/** Dates, with their unit. */
const DATE = /^(datetime|timedelta)64(\[\w+\])$/;

/**
 * NumPy's `dtype.str` of an element type that is named by a word, such as `float32`, or in short,
 * such as `f4` or `>f4`. Words of the platform's own size are those of 64-bit Linux.
 *
 * @throws {NumpyError} If there is no such word here.
 */
export function dtypeFromName(name: string): string {
  if (Object.hasOwn(WORDS, name)) return WORDS[name]!;
  const date = DATE.exec(name);
  if (date !== null) {
    return `<${date[1] === "datetime" ? "M8" : "m8"}${date[2]}`;
  }
  const short = SHORT_FORM.exec(name);
  if (short === null) {
    throw new NumpyError(
      "unsupported-dtype",
      `'${
        name.slice(0, 80)
      }' is no element type that is read here: give one of NumPy's, such as ` +
        "float32, uint8 or >i4",
    );
  }
  const [, order, kind, unit] = short;
  if (kind === "?") return "|b1";
  const isSingle = kind!.slice(1) === "1" && kind![0] !== "U" ||
    /^[SV]/.test(kind!);
  return `${isSingle ? "|" : order === ">" ? ">" : "<"}${kind}${unit}`;
}

/** Type of a class's elements when nothing else is said. */
const DTYPES: Readonly<Record<string, string>> = {
  Int8Array: "|i1",
  Uint8Array: "|u1",
  Int16Array: "<i2",
  Uint16Array: "<u2",
  Int32Array: "<i4",
  Uint32Array: "<u4",
  BigInt64Array: "<i8",
  BigUint64Array: "<u8",
  Float16Array: "<f2",
  Float32Array: "<f4",
  Float64Array: "<f8",
};

/**
 * NumPy's name for the elements of a typed array.
 *
 * @throws {TypeError} If it has no such type.
 */
export function dtypeOf(data: NumericArray): string {
  // Not the constructor's name: Node's Buffer is a Uint8Array under another one.
  const name = data[Symbol.toStringTag];
  const dtype = DTYPES[name];
  if (dtype === undefined) {
    throw new TypeError(`NumPy has no type for the elements of ${name}`);
  }
  return dtype;
}
