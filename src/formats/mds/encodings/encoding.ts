import {
  type ScalarType,
  VALUE_TYPES,
  type ValueType,
  valueType,
} from "../../../codecs/values/value_type.ts";

/** How files show a column's values: the stored bytes, or a generated form. */
export type Form = "stored" | "json" | "npy";

/** Encoding of a column's values. Plain data, which is passed to other threads. */
export interface Encoding {
  /** Name in the index, such as `ndarray:float32:2,3`. */
  readonly word: string;
  readonly name: string;
  /** Bytes per value, if fixed. */
  readonly size: number | undefined;
  readonly form: Form;
  /** File type of the values; for lists, of the elements. */
  readonly type: ValueType;
  /** For arrays: fixed dtype and shape, if the column declares them. */
  readonly dtype: string | undefined;
  readonly shape: readonly number[] | undefined;
  readonly list: ListEncoding | undefined;
}

type Stored = Omit<Encoding, "type">;

/** List layout: number of elements, size of each, then the concatenated elements. */
export interface ListEncoding {
  readonly element: Encoding;
  /** Unused bytes before the number. */
  readonly before: number;
  /** Whether the list may be empty; otherwise the original's readers reject empty lists. */
  readonly mayBeEmpty: boolean;
}

/** Little-endian number types, named as in `DataView`. */
export type ScalarKind =
  | `Big${"Int" | "Uint"}64`
  | `${"Int" | "Uint"}${8 | 16 | 32}`
  | `Float${16 | 32 | 64}`;

/** Encodings of binary numbers. */
export const SCALARS: Readonly<Record<string, ScalarKind>> = {
  __proto__: null as never, // encodings are arbitrary strings
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

/** Types of array dimensions, by width code. */
export const LENGTHS = ["Uint8", "Uint16", "Uint32", "BigUint64"] as const;

/** Encodings without arguments and of variable size, whose bytes are shown unchanged. */
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

/** Lists: element encoding, and unused bytes before the number of elements. */
const LISTS: Readonly<Record<string, readonly [string, number]>> = {
  __proto__: null as never,
  "list[jpeg]": ["jpeg", 4],
  "list[png]": ["png", 4],
  "list[pil]": ["pil", 4],
  "jpeg_array": ["jpeg", 0],
  "jpegarray": ["jpeg", 0],
};

/** Type codes of arrays: NumPy name and dtype. */
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

/** Maximum dimensions of an array: the count has 6 bits. */
export const MOST_DIMENSIONS = 63;

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

/** Parses the name of an encoding; `undefined` if it is unknown. */
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

function scalarType(kind: ScalarKind): ScalarType {
  return kind.replace("Big", "").toLowerCase() as ScalarType;
}

function typed(
  encoding: Stored,
  like: ValueType,
  suffix = like.suffix,
): Encoding {
  return { ...encoding, type: valueType(encoding.word, like, { suffix }) };
}

/** Parses `ndarray`, `ndarray:TYPE`, `ndarray:TYPE:LENGTH,LENGTH`. */
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

export function itemSize(dtype: string): number {
  return Number(dtype.slice(2));
}
