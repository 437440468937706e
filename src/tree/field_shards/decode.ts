import type { AlphaImage } from "../../codecs/image/image.ts";
import type { JsonValue } from "../../codecs/json/value.ts";
import type { NdArray } from "../../codecs/numpy/nd_array.ts";
import type { PickledValue } from "../../codecs/pickle/read_pickle.ts";
import { decodeAs, decodePortable } from "../../codecs/values/decode_value.ts";
import type { Encoding } from "./encoding.ts";
import { elementsOf } from "./list_value.ts";
import { arrayOf, scalarOf } from "./values.ts";

/**
 * Value of a column: bytes (`bytes`), a text (`str`, `str_decimal`), a number (`int`, `uint8` … `float64`, `str_int`,
 * `str_float`; a bigint beyond 2^53), a picture (`jpeg`, `png`), an array (`ndarray`, `pil`), any JSON value (`json`),
 * the plain data of a pickle (`pkl`), or a list of pictures or arrays (`list[jpeg]`, `list[png]`, `list[pil]`,
 * `jpeg_array`, `jpegarray`).
 */
export type FieldValue =
  | Uint8Array<ArrayBuffer>
  | string
  | number
  | bigint
  | AlphaImage
  | NdArray
  | JsonValue
  | PickledValue
  | readonly AlphaImage[]
  | readonly NdArray[];

/** Decodes a value. Never executes code: only pickles of plain data are read. */
export async function decodeValue(
  encoding: Encoding,
  bytes: Uint8Array<ArrayBuffer>,
): Promise<FieldValue> {
  const { list, form, type } = encoding;
  if (list !== undefined) {
    const values: FieldValue[] = [];
    for (const element of elementsOf(list, bytes)) {
      values.push(await decodeValue(list.element, element));
    }
    return values as AlphaImage[] | NdArray[];
  }
  if (form === "json") return scalarOf(encoding, bytes);
  if (form === "npy") return arrayOf(encoding, bytes);
  return decodeAs(type.decoding, bytes) as FieldValue | Promise<FieldValue>;
}

/** Decodes a value for storage in other formats: pictures and pickles stay encoded. */
export function portableValue(
  encoding: Encoding,
  bytes: Uint8Array<ArrayBuffer>,
): unknown {
  const { list, form, type } = encoding;
  if (list !== undefined) {
    return Array.from(
      elementsOf(list, bytes),
      (element) => portableValue(list.element, element),
    );
  }
  if (form === "json") return scalarOf(encoding, bytes);
  if (form === "npy") return arrayOf(encoding, bytes);
  return decodePortable(type.decoding, bytes);
}
