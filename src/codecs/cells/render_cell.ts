import { formatFloat } from "../json/format.ts";
import { arrayFromBytes } from "../numpy/array_bytes.ts";
import type { NdArray } from "../numpy/nd_array.ts";
import { isWrittenAsInt, MsgpackFloat } from "../msgpack/value.ts";
import { columnNames } from "./column_names.ts";
import { type CellField, isLeaf } from "./cell_field.ts";
import {
  decimalText,
  durationText,
  int96Nanos,
  momentText,
  timeText,
  uuidText,
} from "./cell_text.ts";
import { utf8Text } from "../../base/utf8.ts";

/** JavaScript value of a cell. */
export type CellValue =
  | null
  | boolean
  | number
  | bigint
  | string
  | Uint8Array<ArrayBuffer>
  | NdArray
  | CellValue[]
  | { [name: string]: CellValue };

/** Builders of values, or of their JSON text. */
interface Forms<T> {
  readonly none: T;
  leaf(field: CellField, stored: unknown): T;
  list(items: T[]): T;
  struct(names: readonly string[], items: T[]): T;
}

/** Converts a cell to a JavaScript value with bytes of its own. */
export function valueOf(field: CellField, stored: unknown): CellValue {
  return made(field, stored, VALUES);
}

/** {@linkcode valueOf}, but integral floats in lists and structures become `MsgpackFloat`. */
export function exactOf(field: CellField, stored: unknown): CellValue {
  const isPlain = isLeaf(field) && field.repetition !== "REPEATED";
  return made(field, stored, isPlain ? VALUES : EXACT) as CellValue;
}

/** Converts a cell to JSON, with bytes in base64. */
export function jsonOf(field: CellField, stored: unknown): string {
  return made(field, stored, TEXTS);
}

function made<T>(field: CellField, stored: unknown, forms: Forms<T>): T {
  if (field.repetition !== "REPEATED") return madeOne(field, stored, forms);
  const items = (stored ?? []) as unknown[];
  return forms.list(items.map((item) => madeOne(field, item, forms)));
}

function madeOne<T>(field: CellField, stored: unknown, forms: Forms<T>): T {
  if (stored === null || stored === undefined) return forms.none;
  if (isLeaf(field)) return forms.leaf(field, stored);
  const parts = stored as Readonly<Record<number, unknown>>;
  const { is } = field.meaning;
  if (is === "items") {
    const [part] = field.parts;
    return forms.list(
      Array.from(
        stored as ArrayLike<unknown>,
        (one) => made(part!, one, forms),
      ),
    );
  }
  if (is === "pair") {
    return forms.list(
      field.parts.map((part, i) => made(part, parts[i], forms)),
    );
  }
  if (is === "list" || is === "map") {
    const repeated = repeatedOf(field);
    const items = repeated && (parts[0] ?? []) as unknown[];
    if (items !== undefined) {
      const item = is === "list"
        ? elementOf(field, repeated!)
        : pairOf(repeated!);
      if (item !== undefined) {
        return forms.list(items.map((one) => item(one, forms)));
      }
    }
  }
  return forms.struct(
    namesOf(field),
    field.parts.map((part, i) => made(part, parts[i], forms)),
  );
}

const names = new WeakMap<CellField, readonly string[]>();

/** Returns the names of a structure's parts, made unique. */
function namesOf(field: CellField): readonly string[] {
  const known = names.get(field);
  if (known !== undefined) return known;
  const made = columnNames(field.parts);
  names.set(field, made);
  return made;
}

/** Returns the single repeated part of a list or map. */
function repeatedOf({ parts }: CellField): CellField | undefined {
  const [only] = parts;
  return parts.length === 1 && only!.repetition === "REPEATED"
    ? only
    : undefined;
}

type Item = <T>(stored: unknown, forms: Forms<T>) => T;

/** Returns the builder of a list's items: from the repeated part, or from its only child (LogicalTypes.md, "Lists"). */
function elementOf(list: CellField, repeated: CellField): Item {
  const [only] = repeated.parts;
  const isElement = repeated.parts.length !== 1 || repeated.name === "array" ||
    repeated.name === `${list.name}_tuple`;
  if (isElement) return (stored, forms) => madeOne(repeated, stored, forms);
  return (stored, forms) =>
    made(only!, (stored as Record<number, unknown>)?.[0], forms);
}

/** Returns the builder of a map's items: lists of key and value, because keys may repeat; or just keys. */
function pairOf(repeated: CellField): Item | undefined {
  const [key, value] = repeated.parts;
  if (key !== undefined && repeated.parts.length === 1) {
    return (stored, forms) =>
      made(key, (stored as Record<number, unknown>)[0], forms);
  }
  if (repeated.parts.length !== 2) return undefined;
  return (stored, forms) => {
    const parts = stored as Record<number, unknown>;
    return forms.list([
      made(key!, parts[0], forms),
      made(value!, parts[1], forms),
    ]);
  };
}

const VALUES: Forms<CellValue> = {
  none: null,
  leaf(field, stored) {
    const { is } = field.meaning;
    switch (is) {
      case "array": {
        const { dtype, shape } = field.meaning;
        return arrayFromBytes(dtype, shape, (stored as Uint8Array).slice());
      }
      case "bytes":
        return (stored as Uint8Array<ArrayBuffer>).slice();
      case "boolean":
      case "float":
        return stored as number | boolean;
      case "half":
        return halfOf(stored);
      case "integer":
        return integerOf(field, stored);
      default:
        return textOf(field, stored);
    }
  },
  list: (items) => items,
  struct: (names, items) =>
    names.reduce<{ [name: string]: CellValue }>((struct, name, i) => {
      struct[name] = items[i]!;
      return struct;
    }, Object.create(null)),
};

const EXACT: Forms<unknown> = {
  ...VALUES as Forms<unknown>,
  leaf(field, stored) {
    const value = VALUES.leaf(field, stored);
    const { is } = field.meaning;
    const isFloat = is === "float" || is === "half";
    return isFloat && isWrittenAsInt(value as number)
      ? new MsgpackFloat(value as number)
      : value;
  },
};

const TEXTS: Forms<string> = {
  none: "null",
  leaf(field, stored) {
    const { is } = field.meaning;
    switch (is) {
      case "array":
      case "bytes":
        return JSON.stringify((stored as Uint8Array).toBase64());
      case "boolean":
        return String(stored);
      case "float":
        return formatFloat(stored as number);
      case "half":
        return formatFloat(halfOf(stored));
      case "integer":
        return String(integerOf(field, stored));
      default:
        return JSON.stringify(textOf(field, stored));
    }
  },
  list: (items) => `[${items.join(", ")}]`,
  struct: (names, items) =>
    `{${
      names.map((name, i) => `${JSON.stringify(name)}: ${items[i]}`).join(", ")
    }}`,
};

function integerOf(
  { meaning }: CellField,
  stored: unknown,
): number | bigint {
  const unsigned = meaning.is === "integer" && meaning.unsigned;
  if (typeof stored === "bigint") {
    return unsigned ? BigInt.asUintN(64, stored) : stored;
  }
  const number = stored as number;
  return unsigned && number < 0 ? number >>> 0 : number;
}

/** Formats a value without a JavaScript counterpart. */
function textOf({ meaning }: CellField, stored: unknown): string {
  switch (meaning.is) {
    case "decimal":
      return decimalText(stored as number | bigint | Uint8Array, meaning.scale);
    case "uuid":
      return uuidText(stored as Uint8Array);
    case "date":
      return meaning.digits === undefined
        ? momentText(BigInt(stored as number) * 86_400n, 0, "date", false)
        : momentText(stored as bigint, meaning.digits, "date", false);
    case "int96":
      return momentText(
        int96Nanos(stored as Uint8Array),
        9,
        "timestamp",
        false,
      );
    case "time":
      return timeText(BigInt(stored as number | bigint), meaning.digits);
    case "duration":
      return durationText(stored as bigint, meaning.digits);
    case "timestamp":
      return momentText(
        BigInt(stored as number | bigint),
        meaning.digits,
        "timestamp",
        meaning.utc,
      );
    default: // text, JSON
      return stored instanceof Uint8Array ? utf8Text(stored) : String(stored);
  }
}

/** Returns a half-precision number, which may be stored as its two bytes. */
function halfOf(stored: unknown): number {
  if (typeof stored === "number") return stored;
  const bytes = stored as Uint8Array;
  return new DataView(bytes.buffer, bytes.byteOffset).getFloat16(0, true);
}
