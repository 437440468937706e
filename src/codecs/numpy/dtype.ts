import { type NumericArray, NumpyError } from "./nd_array.ts";

export interface Dtype {
  /** NumPy's name, in little-endian order. */
  readonly name: string;
  readonly itemSize: number;
  /** Bytes that are swapped as a unit: half a complex number, one code point of text. */
  readonly unitSize: number;
  /** Whether the parsed name is big-endian. */
  readonly bigEndian: boolean;
  /** Typed array class for the elements; `undefined` for text. */
  readonly holder: Holder | undefined;
}

export interface Holder {
  readonly name: string;
  readonly BYTES_PER_ELEMENT: number;
  new (
    buffer: ArrayBufferLike,
    byteOffset: number,
    length: number,
  ): NumericArray;
}

/** Typed array class of a unit, by kind and size. */
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

const CODE_POINT = 4;

/** Parses NumPy's name of a type, such as `<f4` or `>M8[ns]`; throws a {@linkcode NumpyError} if unsupported. */
export function parseDtype(text: string): Dtype {
  const match = /^([<>|])([a-zA-Z])(\d{1,9})(\[\w+\])?$/.exec(text);
  if (match === null) throw unsupported(text);
  const [, order, kind, digits, unit = ""] = match as unknown as string[];
  const size = Number(digits);
  const isDate = kind === "M" || kind === "m";
  if (size === 0 || unit !== "" && !isDate) throw unsupported(text);
  const bigEndian = order === ">";
  if (kind === "U") {
    const sizes = { itemSize: CODE_POINT * size, unitSize: CODE_POINT };
    return { name: `<U${size}`, ...sizes, bigEndian, holder: undefined };
  }
  const isRaw = kind === "S" || kind === "V";
  const holder = isRaw ? Uint8Array : HOLDERS[`${kind}${size}`];
  if (holder === undefined) throw unsupported(text);
  return {
    name: nameOf(`${kind}${size}`, "<", unit),
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
    `Cannot read arrays of NumPy type '${text.slice(0, 80)}': it is ` +
      `unsupported: ${reason}. Use numbers or text`,
  );
}

/** Names that do not say a size, as `numpy.dtype(name)` accepts them. */
const WORDS: Record<string, string> = {
  bool: "b1",
  bool_: "b1",
  int: "i8",
  uint: "u8",
  half: "f2",
  single: "f4",
  double: "f8",
  float: "f8",
  complex: "c16",
};

const SIZED_WORD = /^(int|uint|float|complex)([1-9]\d{0,2})$/;

/** A letter and a size, with optional byte order. */
const SHORT_FORM = /^([<>=|]?)([a-zA-Z]\d{1,9}|\?)((?:\[\w+\])?)$/;

const DATE = /^(datetime|timedelta)64(\[\w+\])$/;

/**
 * Returns NumPy's `dtype.str` of a type given by name, such as `float32`, or in short form, such as `f4` or `>f4`.
 * Names of platform-dependent size are those of 64-bit Linux.
 *
 * @throws {NumpyError} If the type is unknown.
 */
export function dtypeFromName(name: string): string {
  const sized = SIZED_WORD.exec(name);
  const code = sized === null
    ? Object.hasOwn(WORDS, name) ? WORDS[name] : undefined
    : `${sized[1]![0]}${Number(sized[2]) / 8}`;
  if (code !== undefined && Object.hasOwn(HOLDERS, code)) return nameOf(code);
  const date = DATE.exec(name);
  if (date !== null) {
    return `<${date[1] === "datetime" ? "M8" : "m8"}${date[2]}`;
  }
  const short = SHORT_FORM.exec(name);
  if (short === null) {
    throw new NumpyError(
      "unsupported-dtype",
      "The element type must be one of NumPy's, such as float32, uint8 or >i4, not " +
        `'${name.slice(0, 80)}'`,
    );
  }
  const [, order, kind, unit] = short;
  if (kind === "?") return "|b1";
  return nameOf(kind!, order === ">" ? ">" : "<", unit);
}

/** NumPy's name of a kind and size; single bytes have no byte order. */
function nameOf(code: string, order = "<", unit = ""): string {
  const isSingle = /^[^U]1$|^[SV]/.test(code);
  return `${isSingle ? "|" : order}${code}${unit}`;
}

/** Default type by typed array class: integers or reals. */
const DTYPES = new Map(
  Object.entries(HOLDERS).filter(([code]) => /^[iuf]/.test(code))
    .map(([code, { name }]) => [name, nameOf(code)]),
);

/** @throws {TypeError} If NumPy has no type for the array's elements. */
export function dtypeOf(data: NumericArray): string {
  // Not the constructor's name: Node's Buffer is a Uint8Array under another name.
  const name = data[Symbol.toStringTag];
  const dtype = DTYPES.get(name);
  if (dtype === undefined) {
    throw new TypeError(`NumPy has no type for the elements of ${name}`);
  }
  return dtype;
}
