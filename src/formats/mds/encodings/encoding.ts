import {
  type ScalarType,
  VALUE_TYPES,
  type ValueType,
  valueType,
} from "../../../codecs/values/value_type.ts";

/** What files show of a column's values: the bytes as they stand there, or a form that is made of them. */
export type Form = "stored" | "json" | "npy";

/** How the values of a column are written. Plain data, which other threads are given. */
export interface Encoding {
  /** As the index calls it, such as `ndarray:float32:2,3`. */
  readonly word: string;
  /** The word without its arguments. */
  readonly name: string;
  /** Bytes of each value, where all have as many. */
  readonly size: number | undefined;
  readonly form: Form;
  /** What files of its values are; of lists, those of their elements. */
  readonly type: ValueType;
  /** Of arrays: the type and shape of all of them, where the column says them. */
  readonly dtype: string | undefined;
  readonly shape: readonly number[] | undefined;
  /** Of lists: how their elements are written. */
  readonly list: ListEncoding | undefined;
}

/** What encodings have in common that do not say otherwise. */
type Stored = Omit<Encoding, "type">;

/** How a list of values is written: their number, the size of each, and these one behind the other. */
export interface ListEncoding {
  readonly element: Encoding;
  /** Bytes before the number, which nobody reads. */
  readonly before: number;
  /** Whether there may be no elements: of others, readers of the original refuse what has none. */
  readonly mayBeEmpty: boolean;
}

/** Numbers as the processor has them, by what a `DataView` calls them. */
export type ScalarKind =
  | `Big${"Int" | "Uint"}64`
  | `${"Int" | "Uint"}${8 | 16 | 32}`
  | `Float${16 | 32 | 64}`;

/** Encodings of numbers that stand there as the processor has them. */
export const SCALARS: Readonly<Record<string, ScalarKind>> = {
  __proto__: null as never, // encodings are any words
  int: "BigInt64",
  uint8: "Uint8",
  uint16: "Uint16",
  uint32: "Uint32",
  uint64: "BigUint64",
  int8: "Int8",
  int16: "Int16",
  int32: "Int32",
  int64: "BigInt64",
  float16: "Float16",
  float32: "Float32",
  float64: "Float64",
};

/** The lengths of an array's dimensions, by the number that says how wide they are. */
export const LENGTHS = ["Uint8", "Uint16", "Uint32", "BigUint64"] as const;

/** Encodings without arguments whose values have any number of bytes, all of which are shown as they are. */
const STORED: Readonly<Record<string, ValueType>> = {
  __proto__: null as never,
  bytes: VALUE_TYPES.bytes,
  str: VALUE_TYPES.text,
  "str_int": VALUE_TYPES.integer,
  "str_float": VALUE_TYPES.float,
  "str_decimal": VALUE_TYPES.text,
  png: VALUE_TYPES.png,
  pkl: VALUE_TYPES.pickle,
  json: VALUE_TYPES.json,
};

/** Lists: the encoding of their elements, and bytes before the number of these. */
const LISTS: Readonly<Record<string, readonly [string, number]>> = {
  __proto__: null as never,
  "list[jpeg]": ["jpeg", 4],
  "list[png]": ["png", 4],
  "list[pil]": ["pil", 4],
  "jpeg_array": ["jpeg", 0],
  "jpegarray": ["jpeg", 0],
};

/** The type numbers of arrays, and what NumPy calls the types in words and in short. */
export const ARRAY_TYPES: ReadonlyMap<number, readonly [string, string]> =
  new Map([
    [8, ["uint8", "|u1"]],
    [9, ["int8", "|i1"]],
    [16, ["uint16", "<u2"]],
    [17, ["int16", "<i2"]],
    [18, ["float16", "<f2"]],
    [32, ["uint32", "<u4"]],
    [33, ["int32", "<i4"]],
    [34, ["float32", "<f4"]],
    [64, ["uint64", "<u8"]],
    [65, ["int64", "<i8"]],
    [66, ["float64", "<f8"]],
  ]);

/** Most dimensions of an array: their number has 6 bits. */
export const MOST_DIMENSIONS = 63;

/** All encodings, for messages. */
export const ENCODING_NAMES: readonly string[] = [
  "bytes",
  "str",
  "json",
  "pkl",
  "jpeg",
  "png",
  "pil",
  "ndarray",
  ...Object.keys(SCALARS),
  "str_int",
  "str_float",
  "str_decimal",
  ...Object.keys(LISTS),
];

/** Says what an encoding's word means; `undefined` where it is none that is known. */
export function encodingOf(word: string): Encoding | undefined {
  const [name = "", ...args] = word.split(":");
  const all: Stored = {
    word,
    name,
    size: undefined,
    form: "stored",
    dtype: undefined,
    shape: undefined,
    list: undefined,
  };
  if (name === "ndarray") return arrayEncoding(all, args);
  if (name === "jpeg") {
    const isKnown = args.length === 0 ||
      args.length === 1 && /^\d{1,3}$/.test(args[0]!) && Number(args[0]) <= 100;
    return isKnown ? typed(all, VALUE_TYPES.jpeg) : undefined;
  }
  if (args.length > 0) return undefined;
  if (name === "pil") return typed({ ...all, form: "npy" }, VALUE_TYPES.array);
  const listed = LISTS[name];
  if (listed !== undefined) {
    const [of, before] = listed;
    const element = encodingOf(of)!;
    const list = { element, before, mayBeEmpty: before > 0 };
    return typed({ ...all, list }, element.type, "");
  }
  const scalar = SCALARS[name];
  if (scalar !== undefined) {
    const size = Number(/\d+/.exec(scalar)![0]) / 8;
    const type = { ...VALUE_TYPES.number, scalar: scalarType(scalar) };
    return typed({ ...all, size, form: "json" }, type);
  }
  const stored = STORED[name];
  return stored && typed(all, stored);
}

/** What a `DataView` calls `BigUint64`, in the words of value types. */
function scalarType(kind: ScalarKind): ScalarType {
  return kind.replace("Big", "").toLowerCase() as ScalarType;
}

/** An encoding whose files are like those of a type. */
function typed(
  encoding: Stored,
  like: ValueType,
  suffix = like.suffix,
): Encoding {
  return { ...encoding, type: valueType(encoding.word, like, { suffix }) };
}

/** `ndarray`, `ndarray:TYPE`, `ndarray:TYPE:LENGTH,LENGTH`. */
function arrayEncoding(
  all: Stored,
  args: readonly string[],
): Encoding | undefined {
  const [type, lengths] = args;
  if (args.length > 2) return undefined;
  let dtype: string | undefined;
  if (type !== undefined) {
    const known = [...ARRAY_TYPES.values()].find(([name]) => name === type);
    if (known === undefined) return undefined;
    dtype = known[1];
  }
  let shape: number[] | undefined;
  let size: number | undefined;
  if (lengths !== undefined) {
    if (!/^[1-9]\d{0,14}(,[1-9]\d{0,14})*$/.test(lengths)) return undefined;
    shape = lengths.split(",").map(Number);
    size = shape.reduce((all, length) => all * length, itemSize(dtype!));
    const isTooLarge = !Number.isSafeInteger(size) ||
      shape.length > MOST_DIMENSIONS;
    if (isTooLarge) return undefined;
  }
  return typed({ ...all, size, form: "npy", dtype, shape }, VALUE_TYPES.array);
}

/** Bytes of an element of one of the types above. */
export function itemSize(dtype: string): number {
  return Number(dtype.slice(2));
}
