import {
  type ScalarType,
  typeOfExtension,
  VALUE_TYPES,
  type ValueType,
  valueType,
} from "../../../codecs/values/value_type.ts";
import { mediaOf, type SchemaField } from "./schema.ts";

/** Representation of a column's cells as files: opaque bytes, text, JSON text, or values converted to JSON. */
type Form = "bytes" | "json" | "json-text" | "text";

export function formOf(column: SchemaField): Form {
  if (mediaOf(column) !== undefined) return "bytes";
  if (column.repetition === "REPEATED") return "json";
  switch (column.meaning.is) {
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
export function columnType(column: SchemaField, suffix: string): ValueType {
  const name = typeName(column);
  switch (formOf(column)) {
    case "bytes": {
      const like = typeOfExtension(suffix);
      const isShown = like.kind === "image" || like.kind === "video";
      return valueType(name, isShown ? like : VALUE_TYPES.bytes, { suffix });
    }
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
function elementOf(column: SchemaField): SchemaField | undefined {
  const { meaning, parts, repetition, type } = column;
  if (repetition === "REPEATED") return type === undefined ? undefined : column;
  if (meaning.is !== "list" || parts.length !== 1) return undefined;
  const [repeated] = parts;
  if (repeated!.type !== undefined) return repeated;
  const [element] = repeated!.parts;
  const isOne = repeated!.parts.length === 1 && element!.type !== undefined &&
    element!.repetition !== "REPEATED";
  return isOne ? element : undefined;
}

/** Returns the type of a column's numbers, repeated or not. */
function scalarOf(column: SchemaField | undefined): ScalarType | undefined {
  switch (column?.meaning.is) {
    case "boolean":
      return "bool";
    case "float":
      return column.type === "FLOAT" ? "float32" : "float64";
    case "half":
      return "float16";
    case "integer":
      return typeName({ ...column, repetition: "REQUIRED" }) as ScalarType;
  }
  return undefined;
}

/** Returns a short name of a column's type, such as `int64`, `list<string>`, `struct<bytes, path>`. */
function typeName(field: SchemaField): string {
  const name = bareName(field);
  return field.repetition === "REPEATED" ? `list<${name}>` : name;
}

function bareName({ meaning, type, parts, length }: SchemaField): string {
  switch (meaning.is) {
    case "integer":
      return `${meaning.unsigned ? "u" : ""}int${meaning.bits}`;
    case "float":
      return type!.toLowerCase();
    case "bytes":
      return type === "BYTE_ARRAY" ? "bytes" : `bytes of ${length}`;
    case "list": {
      const [repeated] = parts;
      const inner = repeated?.parts.length === 1 ? repeated.parts[0] : repeated;
      return inner === undefined ? "list" : `list<${bareName(inner)}>`;
    }
    case "group":
      return `struct<${parts.map(({ name }) => name).join(", ")}>`;
    default:
      return meaning.is;
  }
}
