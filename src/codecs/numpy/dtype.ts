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
    `Arrays of NumPy type '${
      text.slice(0, 80)
    }' are not supported: ${reason}; ` +
      "use numbers or text",
  );
}

/** NumPy's words for element types that do not say their size, as `numpy.dtype(word)` takes them. */
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

/** Words with a size in bits. */
const SIZED_WORD = /^(int|uint|float|complex)([1-9]\d{0,2})$/;

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
      `'${
        name.slice(0, 80)
      }' is no element type that is read here: give one of NumPy's, such as ` +
        "float32, uint8 or >i4",
    );
  }
  const [, order, kind, unit] = short;
  if (kind === "?") return "|b1";
  return nameOf(kind!, order === ">" ? ">" : "<", unit);
}

/** NumPy's name of a kind and size, of which single bytes have no order. */
function nameOf(code: string, order = "<", unit = ""): string {
  const isSingle = /^[^U]1$|^[SV]/.test(code);
  return `${isSingle ? "|" : order}${code}${unit}`;
}

/** Type of a class's elements when nothing else is said: whole or real numbers. */
const DTYPES = new Map(
  Object.entries(HOLDERS).filter(([code]) => /^[iuf]/.test(code))
    .map(([code, { name }]) => [name, nameOf(code)]),
);

/**
 * NumPy's name for the elements of a typed array.
 *
 * @throws {TypeError} If it has no such type.
 */
export function dtypeOf(data: NumericArray): string {
  // Not the constructor's name: Node's Buffer is a Uint8Array under another one.
  const name = data[Symbol.toStringTag];
  const dtype = DTYPES.get(name);
  if (dtype === undefined) {
    throw new TypeError(`NumPy has no type for the elements of ${name}`);
  }
  return dtype;
}
