import {
  typeOfExtension,
  VALUE_TYPES,
  type ValueType,
  valueType,
} from "../../../codecs/values/value_type.ts";
import {
  type ValueView,
  valueView as viewOf,
} from "../../../tree/node_view.ts";
import type { Generation } from "./dataset_names.ts";
import type { ValueType as SpecType } from "./spec.ts";

const { array, jpeg, json, number, png, text } = VALUE_TYPES;

const SHIPPED: Readonly<Record<string, ValueType>> = {
  __proto__: null as never, // type names are arbitrary
  array,
  arraytree: json, // of generation 1
  i64: { ...number, scalar: "int64" },
  int: { ...number, scalar: "int" },
  jpeg,
  jpg: jpeg,
  mp4: typeOfExtension("mp4"),
  msgpack: valueType("msgpack", json, { decoding: "msgpack" }),
  png,
  tree: json,
  u64: { ...number, scalar: "uint64" },
  utf8: text,
  webm: typeOfExtension("webm"),
};

/** Types that are decoded by code of their own, which a mount never loads. */
const OWN = ["array", "arraytree", "i64", "int", "tree", "u64"];
const DECODER = import.meta.resolve("../types/decode_value.ts");

/** Returns the value type of a spec type; unknown types are bytes. Its suffix is that of a view: values have none. */
export function typeOf(
  { word, name, args }: SpecType,
  generation: Generation,
): ValueType {
  const isKnown = name !== "arraytree" || generation === 1;
  const like = isKnown ? SHIPPED[name] : undefined;
  return valueType(
    word,
    like ?? VALUE_TYPES.bytes,
    like !== undefined && OWN.includes(name)
      ? { decoding: { module: DECODER, args: [generation, name, args] } }
      : {},
  );
}

export function valueView(
  type: SpecType,
  generation: Generation,
  isList: boolean,
): ValueView {
  return viewOf(typeOf(type, generation), { isList });
}
