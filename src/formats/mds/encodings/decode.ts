import type { AlphaImage } from "../../../codecs/image/image.ts";
import { type JsonValue, parsePlainJson } from "../../../codecs/json/value.ts";
import type { NdArray } from "../../../codecs/numpy/nd_array.ts";
import type { PickledValue } from "../../../codecs/pickle/read_pickle.ts";
import type { Encoding } from "./encoding.ts";
import { elementsOf } from "./list_value.ts";
import { ValueFault } from "./value_fault.ts";
import { arrayOf, scalarOf, whole } from "./values.ts";
import { strictUtf8Text } from "../../../base/utf8.ts";

/**
 * A value of a column: bytes (`bytes`), a text (`str`, `str_decimal`), a number (`int`, `uint8` … `float64`, `str_int`,
 * `str_float`; a bigint beyond 2^53), a picture (`jpeg`, `png`), an array (`ndarray`, `pil`), any value of JSON (`json`),
 * the plain data of a pickle (`pkl`), or a list of pictures or arrays (`list[jpeg]`, `list[png]`, `list[pil]`,
 * `jpeg_array`, `jpegarray`).
 */
export type MDSValue =
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

/** A float as Python writes it. */
const FLOAT = /^\s*[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?\s*$/;
const INTEGER = /^\s*[+-]?\d+\s*$/;
const NO_NUMBERS: Readonly<Record<string, number>> = {
  __proto__: null as never,
  nan: NaN,
  inf: Infinity,
  "-inf": -Infinity,
};
/** Longest text of a whole number: making a number of it takes the square of its length. */
const LONGEST_NUMBER = 4300; // as Python has it

/**
 * Decodes a value. Nothing is executed: of pickles only those of plain data are read.
 *
 * @throws What is wrong with the bytes.
 */
export async function decodeValue(
  encoding: Encoding,
  bytes: Uint8Array<ArrayBuffer>,
): Promise<MDSValue> {
  const { list } = encoding;
  if (list !== undefined) {
    const values: MDSValue[] = [];
    for (const element of elementsOf(list, bytes)) {
      values.push(await decodeValue(list.element, element));
    }
    return values as AlphaImage[] | NdArray[];
  }
  if (encoding.holds === "image") {
    // Codecs are loaded when the first picture needs them.
    const { imageCodec } = await import(
      "../../../codecs/image/choose_codec.ts"
    );
    return await (await imageCodec()).decodeWithAlpha(bytes);
  }
  if (encoding.name === "pkl") {
    const { readPickle } = await import(
      "../../../codecs/pickle/read_pickle.ts"
    );
    return readPickle(bytes);
  }
  return decodeAtOnce(encoding, bytes);
}

function decodeAtOnce(
  encoding: Encoding,
  bytes: Uint8Array<ArrayBuffer>,
): MDSValue {
  if (encoding.form === "json") return scalarOf(encoding, bytes);
  if (encoding.form === "npy") return arrayOf(encoding, bytes);
  switch (encoding.name) {
    case "bytes":
      return bytes;
    case "json":
      return parsePlainJson(textOf(bytes));
    case "str_int":
      return integerOf(textOf(bytes));
    case "str_float":
      return floatOf(textOf(bytes));
    default:
      return textOf(bytes);
  }
}

function textOf(bytes: Uint8Array): string {
  try {
    return strictUtf8Text(bytes);
  } catch {
    throw new ValueFault("its text is not UTF-8");
  }
}

function integerOf(text: string): number | bigint {
  if (text.length <= LONGEST_NUMBER && INTEGER.test(text)) {
    return whole(BigInt(text.trim().replace(/^\+/, "")));
  }
  throw new ValueFault("it is no whole number");
}

function floatOf(text: string): number {
  const special = NO_NUMBERS[text.trim()];
  if (special !== undefined) return special;
  if (FLOAT.test(text)) return Number(text);
  throw new ValueFault("it is no number");
}

/** The number that a file says which was made of one. */
export function numberIn(bytes: Uint8Array): MDSValue {
  return parsePlainJson(textOf(bytes));
}
