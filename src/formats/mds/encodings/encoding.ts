import {
  VALUE_TYPES,
  type ValueType,
  valueType,
} from "../../../codecs/values/value_type.ts";
import {
  ARRAY_TYPES,
  type Encoding,
  itemSize,
  MOST_DIMENSIONS,
  type NumberKind,
  scalarSize,
  scalarType,
} from "../../../tree/field_shards/encoding.ts";

type Stored = Omit<Encoding, "type">;

/** Encodings of binary numbers. */
export const SCALARS: Readonly<Record<string, NumberKind>> = {
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
  if (name === "pil") {
    const pixels = { ...all, form: "npy", head: "pixels" } as const;
    return typed(pixels, VALUE_TYPES.array);
  }
  const listed = LISTS[name];
  if (listed !== undefined) {
    const [of, before] = listed;
    const element = encodingOf(of)!;
    const list = { element, before, mayBeEmpty: before > 0 };
    return typed({ ...all, list }, element.type, "");
  }
  const scalar = SCALARS[name];
  if (scalar !== undefined) {
    const size = scalarSize(scalar);
    const type = { ...VALUE_TYPES.number, scalar: scalarType(scalar) };
    return typed({ ...all, size, form: "json", scalar }, type);
  }
  const stored = STORED[name];
  return stored && typed(all, stored);
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
  const array = { ...all, size, form: "npy", dtype, shape } as const;
  return typed({ ...array, head: "packed" }, VALUE_TYPES.array);
}
