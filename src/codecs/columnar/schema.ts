import type { CellField, Meaning } from "../cells/cell_field.ts";
import type { FlatShape } from "../flatbuffer/read_flatbuffer.ts";
import { CellFault } from "../cells/cell_fault.ts";
import type { NumberName } from "./numbers.ts";

/** Maximum nesting depth of columns. */
const DEEPEST = 32;

/** How the values of a field are stored: which buffers an array has, and its children. */
export type StoredForm =
  | { readonly is: "bits" | "null" | "struct" | "views" }
  | { readonly is: "numbers"; readonly of: NumberName }
  /** Bytes of a value, or items of a list. */
  | { readonly is: "decimal" | "fixed" | "fixed-list"; readonly size: number }
  /** Offsets have 64 bits if it is large, otherwise 32. */
  | { readonly is: "list" | "variable"; readonly isLarge: boolean };

/** Column of Arrow or part of one, as plain data. */
export interface ArrowField extends CellField {
  readonly parts: readonly ArrowField[];
  readonly stored: StoredForm;
  /** Dictionary by whose indices values are stored. */
  readonly dictionary:
    | { readonly id: number; readonly indices: NumberName }
    | undefined;
}

interface StoredType {
  readonly kind: number;
  readonly bits: number;
  readonly isSigned: boolean;
  readonly unit: number;
  readonly scale: number;
  readonly zone: string | undefined;
  readonly size: number;
}

/** Field of a schema as stored (`Field` of Schema.fbs). */
export interface StoredField {
  readonly name: string | undefined;
  readonly isNullable: boolean;
  readonly type: StoredType;
  readonly dictionary:
    | { readonly id: number; readonly index: StoredType | undefined }
    | undefined;
  readonly children: readonly StoredField[];
  readonly metadata: readonly {
    readonly key?: string;
    readonly value?: string;
  }[];
}

const PLAIN: FlatShape = {};
const INT: FlatShape = { bits: [0, "i32"], isSigned: [1, "bool"] };
/** Units are milliseconds if they are not stored, and precisions and units of timestamps the first. */
const UNIT: FlatShape = { unit: [0, "i16", 1] };
const FIRST: FlatShape = { unit: [0, "i16"] };
const SIZE: FlatShape = { size: [0, "i32"] };
const DECIMAL: FlatShape = { scale: [1, "i32"], bits: [2, "i32", 128] };
const PAIR: FlatShape = { key: [0, "text"], value: [1, "text"] };

type Describe = (
  type: StoredType,
  field: StoredField,
) => readonly [Meaning, StoredForm];

/** A type: its name, the shape of its table, and what it is; without that, it is refused. */
type Type = readonly [name: string, shape: FlatShape, describe?: Describe];

const variable = (is: "bytes" | "text", isLarge: boolean): Describe => () => [
  { is },
  { is: "variable", isLarge },
];
const views =
  (is: "bytes" | "text"): Describe => () => [{ is }, { is: "views" }];
const list = (isLarge: boolean): Describe => () => [
  { is: "items" },
  { is: "list", isLarge },
];
/** Digits of the fraction of a second, by the unit's number. */
const DIGITS = [0, 3, 6, 9];

/** Types by their numbers (`Type` of Schema.fbs, github.com/apache/arrow/tree/main/format). */
const TYPES: readonly (Type | undefined)[] = [
  undefined,
  ["null", PLAIN, () => [{ is: "null" }, { is: "null" }]],
  ["int", INT, (type) => {
    const of = integerName(type);
    const { isSigned, bits } = type;
    return [
      { is: "integer", unsigned: !isSigned, bits: bits as 8 | 16 | 32 | 64 },
      { is: "numbers", of },
    ];
  }],
  ["float", FIRST, ({ unit }) => {
    const bits = [16, 32, 64][unit] as 16 | 32 | 64 | undefined;
    if (bits === undefined) throw new CellFault("has floats of no size");
    return [
      bits === 16 ? { is: "half" } : { is: "float", bits },
      { is: "numbers", of: `float${bits}` },
    ];
  }],
  ["binary", PLAIN, variable("bytes", false)],
  ["utf8", PLAIN, variable("text", false)],
  ["bool", PLAIN, () => [{ is: "boolean" }, { is: "bits" }]],
  ["decimal", DECIMAL, ({ scale, bits }) => {
    const size = bits / 8;
    if (![4, 8, 16, 32].includes(size)) {
      throw new CellFault("has decimals of no size");
    }
    return [{ is: "decimal", scale }, { is: "decimal", size }];
  }],
  ["date", UNIT, ({ unit }) => [
    { is: "date", digits: unit === 0 ? undefined : 3 },
    { is: "numbers", of: unit === 0 ? "int32" : "int64" },
  ]],
  ["time", UNIT, ({ unit }) => [
    { is: "time", digits: DIGITS[unit] ?? 0, utc: false },
    { is: "numbers", of: unit < 2 ? "int32" : "int64" },
  ]],
  ["timestamp", { ...FIRST, zone: [1, "text"] }, ({ unit, zone }) => [
    { is: "timestamp", digits: DIGITS[unit] ?? 0, utc: zone !== undefined },
    { is: "numbers", of: "int64" },
  ]],
  ["interval", PLAIN],
  ["list", PLAIN, list(false)],
  ["struct", PLAIN, () => [{ is: "group" }, { is: "struct" }]],
  ["union", PLAIN],
  ["fixed_size_binary", SIZE, ({ size }) => [
    { is: "bytes", length: requireSize(size) },
    { is: "fixed", size },
  ]],
  ["fixed_size_list", SIZE, ({ size }) => [
    { is: "items" },
    { is: "fixed-list", size: requireSize(size) },
  ]],
  ["map", PLAIN, list(false)],
  ["duration", UNIT, ({ unit }) => [
    { is: "duration", digits: DIGITS[unit] ?? 0 },
    { is: "numbers", of: "int64" },
  ]],
  ["large_binary", PLAIN, variable("bytes", true)],
  ["large_utf8", PLAIN, variable("text", true)],
  ["large_list", PLAIN, list(true)],
  ["run_end_encoded", PLAIN],
  ["binary_view", PLAIN, views("bytes")],
  ["string_view", PLAIN, views("text")],
  ["list_view", PLAIN],
  ["large_list_view", PLAIN],
];

const FIELD: FlatShape = {
  name: [0, "text"],
  isNullable: [1, "bool"],
  type: [3, { union: TYPES.map((type) => type?.[1]) }],
  dictionary: [4, {
    table: () => ({ id: [0, "i64"], index: [1, { table: () => INT }] }),
  }],
  children: [5, { tables: () => FIELD }],
  metadata: [6, { tables: () => PAIR }],
};

/** Shape of a schema: fields as {@linkcode StoredField}, and whether numbers are big-endian. */
export const SCHEMA: FlatShape = {
  endianness: [0, "i16"],
  fields: [1, { tables: () => FIELD }],
};

/**
 * Describes a field of a schema.
 *
 * @throws {CellFault} If it is damaged, or of a type that is not supported.
 */
export function fieldOf(field: StoredField, depth = 1): ArrowField {
  const { name = "", isNullable, type, dictionary, children, metadata } = field;
  if (depth > DEEPEST) {
    throw new CellFault(`has columns that are nested deeper than ${DEEPEST}`);
  }
  const [typeName, , describe] = TYPES[type.kind]!;
  if (describe === undefined) {
    throw new CellFault(
      `has a column '${name}' of type ${typeName}, which is not supported. Write it as another type`,
      "unsupported",
    );
  }
  let [meaning, stored] = describe(type, field);
  const parts = children.map((child) => fieldOf(child, depth + 1));
  const [item] = parts;
  if (meaning.is === "items" && (item === undefined || parts.length > 1)) {
    throw new CellFault(`has a list '${name}' of ${parts.length} fields`);
  }
  if (typeName === "map") {
    if (item!.stored.is !== "struct" || item!.parts.length !== 2) {
      throw new CellFault(`has a map '${name}' without keys and values`);
    }
    parts[0] = { ...item!, meaning: { is: "pair" } };
  }
  const extension = metadata.find(({ key }) => key === "ARROW:extension:name");
  if (extension?.value === "arrow.json" && meaning.is === "text") {
    meaning = { is: "json" };
  }
  if (extension?.value === "arrow.uuid" && type.size === 16) {
    meaning = { is: "uuid" };
  }
  const repetition = isNullable ? "OPTIONAL" : "REQUIRED";
  const indices = dictionary && {
    id: dictionary.id,
    indices: dictionary.index
      ? integerName(dictionary.index)
      : "int32" as const,
  };
  return { name, repetition, meaning, parts, stored, dictionary: indices };
}

function integerName({ bits, isSigned }: StoredType): NumberName {
  if (bits === 8 || bits === 16 || bits === 32 || bits === 64) {
    return `${isSigned ? "" : "u"}int${bits}`;
  }
  throw new CellFault(`has integers of ${bits} bits`);
}

function requireSize(size: number): number {
  if (size >= 0) return size;
  throw new CellFault(`has values of ${size} bytes or items`);
}
