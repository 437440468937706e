import type { ExactJson } from "../json/value.ts";
import { MsgpackFloat } from "../msgpack/value.ts";
import { VALUE_TYPES, type ValueType, valueType } from "./value_type.ts";

/** Kinds of the values of a field that declares no type, combined by bitwise or. */
const Kind = {
  NULL: 1,
  BOOL: 2,
  INT: 4,
  /** An integer beyond 64 bits. */
  LONG: 8,
  FLOAT: 16,
  TEXT: 32,
  OTHER: 64,
  /** A cell that is no number: then all cells of its column are texts. */
  CELL: 128,
} as const;

/** Bits of all kinds. */
export const ALL_KINDS = 255;

const { number, text, json } = VALUE_TYPES;
const TYPES: Readonly<Record<number, ValueType>> = {
  0: valueType("str", text), // of no values
  [Kind.TEXT]: valueType("str", text),
  [Kind.BOOL]: valueType("bool", json, { scalar: "bool" }),
  [Kind.INT]: valueType("int", number, { scalar: "int64" }),
  [Kind.LONG]: valueType("int", number, { scalar: "int" }),
  [Kind.INT | Kind.LONG]: valueType("int", number, { scalar: "int" }),
  [Kind.FLOAT]: valueType("float", number, { scalar: "float64" }),
  [Kind.INT | Kind.FLOAT]: valueType("float", number, { scalar: "float64" }),
};

/** Returns the type of a field whose values are of these kinds; any of them may also be null. */
export function typeOfKinds(kinds: number): ValueType {
  if ((kinds & Kind.CELL) !== 0) return TYPES[Kind.TEXT]!;
  return kinds === Kind.NULL ? json : TYPES[kinds & ~Kind.NULL] ?? json;
}

export function kindOfJson(value: ExactJson): number {
  switch (typeof value) {
    case "boolean":
      return Kind.BOOL;
    case "string":
      return Kind.TEXT;
    case "bigint":
      return BigInt.asIntN(64, value) === value ? Kind.INT : Kind.LONG;
    case "number":
      return Number.isSafeInteger(value) ? Kind.INT : Kind.FLOAT;
    default:
      if (value === null) return Kind.NULL;
      return value instanceof MsgpackFloat ? Kind.FLOAT : Kind.OTHER;
  }
}

/** Numbers as JSON writes them: others, such as `007` and `+49`, are texts that would not stay the same. */
const INTEGER = /^(?:0|-?[1-9]\d*)$/;
const FLOAT = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
/** Digits of integers that always fit 64 bits, and the most of a number. */
const [SURE_DIGITS, MOST_DIGITS] = [18, 400];

/** @param before Kinds of other cells of its column: among texts, it is a text. */
export function kindOfCell(cell: string, before = 0): number {
  const isText = (before & Kind.CELL) !== 0 || cell.length > MOST_DIGITS;
  if (isText) return Kind.CELL;
  if (INTEGER.test(cell)) {
    return cell.length <= SURE_DIGITS ? Kind.INT : kindOfJson(BigInt(cell));
  }
  const isFloat = FLOAT.test(cell) && Number.isFinite(Number(cell));
  return isFloat ? Kind.FLOAT : Kind.CELL;
}

/** Returns the value of a cell, as the type of its column says. */
export function valueOfCell(
  cell: string,
  { kind, scalar }: ValueType,
): string | number | bigint {
  if (kind === "text") return cell;
  const value = Number(cell);
  const isLong = scalar !== "float64" && !Number.isSafeInteger(value) &&
    INTEGER.test(cell);
  return isLong ? BigInt(cell) : value;
}
