import { VALUE_TYPES, valueType } from "../../../codecs/values/value_type.ts";
import { type ValueView, valueView } from "../../../tree/node_view.ts";
import type { Made } from "./record_layout.ts";
import { utf8Text } from "../../../base/utf8.ts";

/** Decoding of the number in a JSON list of one. */
const ONE = { decoding: { module: import.meta.url, args: [] } };

/**
 * Returns the view of numbers in one of their forms: one number in JSON as that number, NumPy's form as an array, and
 * several numbers in JSON as an ordinary file (`undefined`).
 */
export function numbersView(
  { form, numbers }: Made,
  key: string | undefined,
): ValueView | undefined {
  if (form === "json" && numbers.length !== 1) return undefined;
  const name = numbers instanceof Float32Array ? "float" : "int64";
  const type = form === "json"
    ? valueType(name, VALUE_TYPES.number, ONE)
    : valueType(name, VALUE_TYPES.array);
  return valueView(type, { key });
}

/** Returns the view of bytes of unknown type, or of a directory of values. */
export function bytesView(
  name: string,
  isList: boolean,
  key: string | undefined,
): ValueView {
  return valueView(valueType(name, VALUE_TYPES.bytes), { isList, key });
}

/** Decodes the number in a JSON list of one, exactly. */
export function decodeValue(bytes: Uint8Array): number | bigint {
  const word = utf8Text(bytes).trim().slice(1, -1);
  const number = Number(word);
  return Number.isInteger(number) && !Number.isSafeInteger(number) &&
      /^-?\d+$/.test(word)
    ? BigInt(word)
    : number;
}
