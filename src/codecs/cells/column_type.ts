import {
  type ScalarType,
  typeOfExtension,
  VALUE_TYPES,
  type ValueType,
  valueType,
} from "../values/value_type.ts";
import { type CellField, isLeaf, mediaOf } from "./cell_field.ts";

/** Representation of a column's cells as files: arrays, opaque bytes, text, JSON text, or values converted to JSON. */
type Form = "array" | "bytes" | "json" | "json-text" | "text";

export function formOf(column: CellField): Form {
  if (mediaOf(column) !== undefined) return "bytes";
  if (column.repetition === "REPEATED") return "json";
  switch (column.meaning.is) {
    case "array":
    case "bytes":
    case "text":
      return column.meaning.is;
    case "json":
      return "json-text";
    default:
      return "json";
  }
}

/** Returns the value type of a column's cells. `suffix` is that of its files, if they are bytes. */
export function columnType(column: CellField, suffix: string): ValueType {
  const name = typeName(column);
  switch (formOf(column)) {
    case "bytes": {
      const like = typeOfExtension(suffix);
      const isShown = like.kind === "image" || like.kind === "video";
      return valueType(name, isShown ? like : VALUE_TYPES.bytes, { suffix });
    }
    case "array":
      return valueType(name, VALUE_TYPES.array);
    case "text":
      return valueType(name, VALUE_TYPES.text);
    case "json-text":
      return valueType(name, VALUE_TYPES.json);
    case "json": {
      const isRepeated = column.repetition === "REPEATED";
      const scalar = isRepeated ? undefined : scalarOf(column);
      const isNumber = scalar !== undefined && scalar !== "bool";
      return valueType(
        name,
        isNumber ? VALUE_TYPES.number : VALUE_TYPES.json,
        { scalar, elements: scalarOf(elementOf(column)) },
      );
    }
  }
}

/** Returns the element field of a list; `undefined` unless its elements are scalars. */
function elementOf(column: CellField): CellField | undefined {
  const { meaning, parts, repetition } = column;
  if (repetition === "REPEATED") return isLeaf(column) ? column : undefined;
  const isList = meaning.is === "list" || meaning.is === "items";
  if (!isList || parts.length !== 1) return undefined;
  const [repeated] = parts;
  if (isLeaf(repeated!)) return repeated;
  if (meaning.is === "items") return undefined;
  const [element] = repeated!.parts;
  const isOne = repeated!.parts.length === 1 && isLeaf(element!) &&
    element!.repetition !== "REPEATED";
  return isOne ? element : undefined;
}

/** Returns the type of a column's numbers, repeated or not. */
function scalarOf(column: CellField | undefined): ScalarType | undefined {
  switch (column?.meaning.is) {
    case "boolean":
      return "bool";
    case "float":
      return `float${column.meaning.bits}`;
    case "half":
      return "float16";
    case "integer":
      return typeName({ ...column, repetition: "REQUIRED" }) as ScalarType;
  }
  return undefined;
}

/** Returns a short name of a column's type, such as `int64`, `list<string>`, `struct<bytes, path>`. */
function typeName(field: CellField): string {
  const name = bareName(field);
  return field.repetition === "REPEATED" ? `list<${name}>` : name;
}

function bareName({ meaning, parts }: CellField): string {
  switch (meaning.is) {
    case "integer":
      return `${meaning.unsigned ? "u" : ""}int${meaning.bits}`;
    case "float":
      return meaning.bits === 32 ? "float" : "double";
    case "bytes":
      return meaning.length === undefined
        ? "bytes"
        : `bytes of ${meaning.length}`;
    case "array":
      return meaning.dtype;
    case "list": {
      const [repeated] = parts;
      const inner = repeated?.parts.length === 1 ? repeated.parts[0] : repeated;
      return inner === undefined ? "list" : `list<${bareName(inner)}>`;
    }
    case "items": {
      const [item] = parts;
      return item!.meaning.is === "pair" ? "map" : `list<${bareName(item!)}>`;
    }
    case "group":
      return `struct<${parts.map(({ name }) => name).join(", ")}>`;
    default:
      return meaning.is;
  }
}
