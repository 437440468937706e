import { parseExactJson } from "../../../codecs/json/value.ts";
import { withoutByteOrderMark } from "../../../base/utf8.ts";
import { VALUE_TYPES, valueType } from "../../../codecs/values/value_type.ts";
import type { Field } from "../../../tree/samples/samples.ts";
import { formOf } from "./column_type.ts";
import { mediaOf, type SchemaField } from "./schema.ts";

/** How the cells of a column are given to other formats. */
export interface PortableColumn {
  readonly field: Field;
  /**
   * Makes the value of a cell that is not `null`.
   *
   * @throws What is wrong with it.
   */
  valueOf(value: unknown): unknown;
}

/** Finds out how the cells of a column are given to other formats. */
export function portableColumn(
  field: Field,
  schema: SchemaField,
): PortableColumn {
  if (mediaOf(schema) !== undefined) {
    return {
      field,
      valueOf: (value) => (value as { bytes?: unknown }).bytes ?? null,
    };
  }
  const form = formOf(schema);
  if (form === "json-text") {
    const valueOf = (text: unknown) =>
      parseExactJson(withoutByteOrderMark(text as string));
    return { field, valueOf };
  }
  const { name, scalar } = field.type;
  const isLeaf = schema.type !== undefined && schema.repetition !== "REPEATED";
  const isText = form === "json" && isLeaf && scalar === undefined;
  return {
    // Moments, decimals and the like are texts, as the tree has them.
    field: isText
      ? { ...field, type: valueType(name, VALUE_TYPES.text) }
      : field,
    valueOf: (value) => value,
  };
}
