import { parseExactJson } from "../../codecs/json/value.ts";
import { withoutByteOrderMark } from "../../base/utf8.ts";
import { VALUE_TYPES, valueType } from "../../codecs/values/value_type.ts";
import type { Field } from "../samples/samples.ts";
import { formOf } from "../../codecs/cells/column_type.ts";
import {
  type CellField,
  isLeaf,
  mediaOf,
} from "../../codecs/cells/cell_field.ts";

export interface PortableColumn {
  readonly field: Field;
  /** Converts a cell that is not `null`. Throws if it is invalid. */
  valueOf(value: unknown): unknown;
}

export function portableColumn(
  field: Field,
  schema: CellField,
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
  const isOne = isLeaf(schema) && schema.repetition !== "REPEATED";
  const isText = form === "json" && isOne && scalar === undefined;
  return {
    // Timestamps, decimals and the like become text, as in the tree.
    field: isText
      ? { ...field, type: valueType(name, VALUE_TYPES.text) }
      : field,
    valueOf: (value) => value,
  };
}
