import { type NpyContent, writeNpy } from "../../../codecs/numpy/npy.ts";
import type { ScalarType } from "../../../codecs/values/value_type.ts";
import { numberIn } from "../../../convert/samples/numbers_array.ts";
import {
  jsonText,
  type StoredField,
  type StoreField,
} from "../../../convert/samples/stored_fields.ts";
import type { Field } from "../../../tree/samples/samples.ts";
import type { WrittenElement } from "../read/library.ts";
import type { ColumnToWrite } from "../write/parquet_output.ts";

/** Field that a column of Parquet stores. */
export interface ColumnField extends StoredField {
  readonly column: ColumnToWrite;
}

type Leaf = Omit<WrittenElement, "name" | "repetition_type">;

/** How a value becomes that of a leaf. */
interface Item {
  readonly type: string;
  readonly leaf: Leaf;
  readonly isContent?: boolean;
  encode(value: unknown): unknown;
}

const UTF8 = new TextEncoder();

const TEXT: Item = {
  type: "string",
  leaf: { type: "BYTE_ARRAY", converted_type: "UTF8" },
  encode: (text) => text,
};
const BYTES: Item = {
  type: "binary",
  leaf: { type: "BYTE_ARRAY" },
  isContent: true,
  encode: (bytes) => bytes,
};
const JSON_TEXT: Item = {
  type: "json",
  leaf: { type: "BYTE_ARRAY", logical_type: { type: "JSON" } },
  encode: (value) => UTF8.encode(jsonText(value)),
};
const NPY: Item = {
  ...BYTES,
  encode: (array) => writeNpy(array as NpyContent),
};

/** Numbers by their type. Source: Parquet's `LogicalTypes.md`. */
const NUMBERS: Readonly<Record<ScalarType, Item>> = {
  bool: { type: "bool", leaf: { type: "BOOLEAN" }, encode: Boolean },
  int8: integer("int8", { type: "INT32", converted_type: "INT_8" }),
  int16: integer("int16", { type: "INT32", converted_type: "INT_16" }),
  int32: integer("int32", { type: "INT32" }),
  int64: long("int64", { type: "INT64" }, BigInt.asIntN),
  int: long("int64", { type: "INT64" }, BigInt.asIntN),
  uint8: integer("uint8", { type: "INT32", converted_type: "UINT_8" }),
  uint16: integer("uint16", { type: "INT32", converted_type: "UINT_16" }),
  uint32: integer("uint32", { type: "INT32", converted_type: "UINT_32" }),
  uint64: long(
    "uint64",
    { type: "INT64", converted_type: "UINT_64" },
    BigInt.asUintN,
  ),
  float16: float("float16", {
    type: "FIXED_LEN_BYTE_ARRAY",
    type_length: 2,
    logical_type: { type: "FLOAT16" },
  }),
  float32: float("float", { type: "FLOAT" }),
  float64: float("double", { type: "DOUBLE" }),
};

/** Chooses the column for a field. All columns are nullable. */
export const storeColumn: StoreField = (field: Field): ColumnField => {
  const { name, isList, type: { kind, decoding, scalar, elements } } = field;
  const item = itemOf(scalar, kind, decoding);
  if (isList) return listOf(item);
  if (elements !== undefined) return listOf(NUMBERS[elements]);
  const more = item === NPY
    ? { change: "is NumPy's .npy" }
    : item === JSON_TEXT
    ? { change: "is the text of JSON", isJson: true }
    : {};
  const element: WrittenElement = {
    ...item.leaf,
    ...{ name, repetition_type: "OPTIONAL" },
  };
  return stored(item.type, [element], item, item.encode, more);

  function listOf(item: Item): ColumnField {
    const elements: WrittenElement[] = [
      {
        ...{ name, repetition_type: "OPTIONAL" },
        ...{ converted_type: "LIST", num_children: 1 },
      },
      { name: "list", repetition_type: "REPEATED", num_children: 1 },
      { ...item.leaf, name: "element", repetition_type: "OPTIONAL" },
    ];
    const encode = (list: unknown) =>
      Array.fromAsync(
        list as Iterable<unknown>,
        (value) => value === null ? null : item.encode(value),
      );
    return stored(`list<${item.type}>`, elements, item, encode, {});
  }

  function stored(
    type: string,
    elements: readonly WrittenElement[],
    { isContent = false }: Item,
    encode: StoredField["encode"],
    more: Partial<StoredField>,
  ): ColumnField {
    const { isJson = false } = more;
    const column = { name, elements, isContent, isJson };
    return { field, name, type, isOptional: true, encode, column, ...more };
  }
};

function itemOf(
  scalar: ScalarType | undefined,
  kind: string,
  decoding: unknown,
): Item {
  if (scalar !== undefined) return NUMBERS[scalar];
  switch (kind) {
    case "text":
      return TEXT;
    case "array":
      return NPY;
    case "number":
      return JSON_TEXT;
    case "tree":
      return decoding === "pickle" ? BYTES : JSON_TEXT;
    default:
      return BYTES;
  }
}

function integer(type: string, leaf: Leaf): Item {
  const bits = Number(/\d+$/.exec(type)![0]);
  const isSigned = type.startsWith("int");
  const least = isSigned ? -(2 ** (bits - 1)) : 0;
  const most = isSigned ? 2 ** (bits - 1) - 1 : 2 ** bits - 1;
  const encode = (value: unknown) => {
    const number = Number(numberIn(value));
    if (number >= least && number <= most) return number;
    throw new RangeError(`${number} is out of the range of ${type}`);
  };
  return { type, leaf, encode };
}

function long(
  type: string,
  leaf: Leaf,
  wrap: (bits: number, value: bigint) => bigint,
): Item {
  const encode = (value: unknown) => {
    const number = BigInt(numberIn(value));
    if (wrap(64, number) === number) return number;
    throw new RangeError(`${number} is out of the range of ${type}`);
  };
  return { type, leaf, encode };
}

function float(type: string, leaf: Leaf): Item {
  return { type, leaf, encode: (value) => Number(numberIn(value)) };
}
