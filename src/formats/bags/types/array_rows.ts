import { briefJson, formatNumber } from "../../../codecs/json/format.ts";
import type { ExactJson } from "../../../codecs/json/value.ts";
import { MsgpackFloat } from "../../../codecs/msgpack/mod.ts";
import { elementCount, type NdArray } from "../../../codecs/numpy/nd_array.ts";
import { charactersOf, checkArray } from "../../../codecs/numpy/array_bytes.ts";
import { parseDtype } from "../../../codecs/numpy/dtype.ts";

/**
 * Whether JSON lists the values of an array: booleans, integers, floats, and text that is not nearly all padding.
 * Complex numbers, dates and raw bytes are not listed.
 */
export function hasListedValues(array: NdArray): boolean {
  return /^[<|][biufU]/.test(array.dtype) && !isMostlyPadding(array);
}

/** Padding allowed in text arrays: bytes per text and per character of it, plus a constant. */
const PADDING_EACH = 256;
const PADDING_ANYHOW = 4096;

/** Whether a text array is mostly padding: its type can make 400 MB of one letter. */
export function isMostlyPadding({ dtype, shape, data }: NdArray): boolean {
  if (!Array.isArray(data)) return false;
  const held = data.reduce((sum, text) => sum + charactersOf(text) + 1, 0);
  const { byteLength } = checkArray({ dtype, shape, data });
  return byteLength > held * PADDING_EACH + PADDING_ANYHOW;
}

/** Returns the elements as JSON, nested by dimension; just the element if there is no dimension. */
export function rowsOf({ dtype, shape, data }: NdArray): string {
  const texts = dtype === "|b1"
    ? Array.from(data as Uint8Array, (byte) => byte === 0 ? "false" : "true")
    : Array.from<number | bigint | string, string>(
      data as Iterable<number | bigint | string>,
      (item) =>
        typeof item === "string" ? JSON.stringify(item) : formatNumber(item),
    );
  let at = 0;
  const rows = (axis: number): string => {
    if (axis === shape.length) return texts[at++]!;
    const items = Array.from({ length: shape[axis]! }, () => rows(axis + 1));
    return `[${items.join(", ")}]`;
  };
  return elementCount(shape) === 0 ? "[]" : rows(0);
}

/** Converts nested lists to the data of an array; throws a `TypeError` if they do not fit its shape and type. */
export function elementsOf(
  dtype: string,
  shape: readonly number[],
  values: ExactJson,
): NdArray["data"] {
  const items = shape.includes(0) ? [] : flattened(values, shape);
  const { holder: Holder } = parseDtype(dtype);
  if (Holder === undefined) {
    return items.map((item) =>
      typeof item === "string" ? item : misfit(item, dtype)
    );
  }
  const bytes = new Uint8Array(items.length * Holder.BYTES_PER_ELEMENT);
  const data = new Holder(bytes.buffer, 0, items.length);
  const kind = dtype === "|b1" ? "bool" : /f/.test(dtype) ? "float" : "int";
  items.forEach((item, i) => {
    if (!isOfKind(item, kind)) misfit(item, dtype);
    if (data instanceof BigInt64Array || data instanceof BigUint64Array) {
      data[i] = BigInt(item);
    } else data[i] = Number(item);
    const isKept = kind === "float" || BigInt(data[i]!) === BigInt(item);
    if (!isKept) misfit(item, dtype);
  });
  return data;
}

function isOfKind(
  item: ExactJson,
  kind: "bool" | "int" | "float",
): item is boolean | number | bigint {
  if (kind === "bool") return typeof item === "boolean";
  return typeof item === "bigint" ||
    typeof item === "number" && (kind === "float" || Number.isInteger(item));
}

function misfit(item: ExactJson, dtype: string): never {
  throw new TypeError(
    `${briefJson(item)} is not an element of an array of '${dtype}'`,
  );
}

function flattened(values: ExactJson, shape: readonly number[]): ExactJson[] {
  let items = [values];
  for (const length of shape) {
    items = items.flatMap((item) => {
      if (Array.isArray(item) && item.length === length) return item;
      throw new TypeError(
        `The values of an array are not lists of shape (${shape.join(", ")})`,
      );
    });
  }
  return items.map(plainNumber);
}

/** Unwraps a {@linkcode MsgpackFloat} where the type determines what the number is. */
export function plainNumber<Value>(
  value: Value | MsgpackFloat,
): Value | number {
  return value instanceof MsgpackFloat ? value.value : value;
}
