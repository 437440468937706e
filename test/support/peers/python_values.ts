/** Python values as JSON that keeps their types, for exact comparison. */

/** A Python value: `None`, `bool`, `str` and `list` as in JSON, others as objects that name their class. */
export type PythonValue =
  | null
  | boolean
  | string
  | readonly PythonValue[]
  | { readonly [content: string]: PythonValue | number };

/** Fields of a Python sample, by name. */
export type PythonSample = Readonly<Record<string, PythonValue>>;

/** Source of the Python function `described(value)`, which returns this JSON. */
export const DESCRIBED = `
import datetime, decimal, io, json, math, sys, uuid
import numpy as np

def described(value):
    if value is None or isinstance(value, (bool, str)): return value
    if isinstance(value, np.generic): return {"scalar": value.dtype.str, "bytes": value.tobytes().hex()}
    if isinstance(value, np.ndarray):
        return {"array": value.dtype.str, "shape": list(value.shape), "bytes": value.tobytes().hex()}
    if isinstance(value, int): return {"int": str(value)}
    if isinstance(value, float): return {"float": value if math.isfinite(value) else str(value)}
    if isinstance(value, (bytes, bytearray)): return {"bytes": value.hex()}
    if isinstance(value, decimal.Decimal): return {"decimal": format(value, "f")}
    if isinstance(value, uuid.UUID): return {"uuid": str(value)}
    if isinstance(value, (datetime.date, datetime.time)): return {type(value).__name__: value.isoformat()}
    if isinstance(value, dict): return {"dict": {key: described(inner) for key, inner in value.items()}}
    if isinstance(value, list): return [described(inner) for inner in value]
    if isinstance(value, tuple): return {"tuple": [described(inner) for inner in value]}
    from PIL import Image
    if isinstance(value, Image.Image):
        file = getattr(value, "fp", None)
        stored = file.getvalue() if file else None # which loading takes away
        value.load()
        if stored is not None: return {"image": value.format, "bytes": stored.hex()}
        return {"pixels": value.mode, "size": list(value.size), "bytes": value.tobytes().hex()}
    raise TypeError(f"{type(value)} has no JSON here")
`;

/** Returns a Python `int`. */
export function int(value: number | bigint): PythonValue {
  return { int: String(value) };
}

/** Returns a Python `float`. */
export function float(value: number): PythonValue {
  if (Number.isFinite(value)) return { float: value };
  if (Number.isNaN(value)) return { float: "nan" };
  return { float: value > 0 ? "inf" : "-inf" };
}

/** Returns Python `bytes`. */
export function bytes(value: Uint8Array): PythonValue {
  return { bytes: value.toHex() };
}

/** Returns a Python `dict`. */
export function dict(value: PythonSample): PythonValue {
  return { dict: value };
}

/** Returns a NumPy array. */
export function array(
  dtype: string,
  shape: readonly number[],
  data: ArrayBufferView,
): PythonValue {
  const all = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  return { array: dtype, shape: shape as never, bytes: all.toHex() };
}

/** Returns a NumPy scalar, from the only element of a typed array. */
export function scalar(dtype: string, data: ArrayBufferView): PythonValue {
  const { bytes } = array(dtype, [], data) as { bytes: string };
  return { scalar: dtype, bytes };
}

/** Returns a Pillow picture read from a file, with the file's bytes. */
export function picture(format: string, file: Uint8Array): PythonValue {
  return { image: format, bytes: file.toHex() };
}

/** Returns a Pillow picture made of pixels. */
export function pixels(
  mode: string,
  size: readonly [width: number, height: number],
  data: Uint8Array,
): PythonValue {
  return { pixels: mode, size: size as never, bytes: data.toHex() };
}

/** A value without its class: numbers, arrays and lists; times and decimals are texts. */
export type PlainValue =
  | null
  | boolean
  | bigint
  | number
  | string
  | Uint8Array
  | readonly PlainValue[]
  | { readonly [key: string]: PlainValue };

/** Returns a value without its class. Integers are `bigint`, floats `number`. */
export function plainOf(value: PythonValue): PlainValue {
  if (value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) return value.map(plainOf);
  const { shape, bytes } = value as never as {
    shape: number[];
    bytes: string;
  };
  const [[kind, content]] = Object.entries(value) as [[string, never]];
  switch (kind) {
    case "int":
      return BigInt(content);
    case "float":
      return typeof content === "number"
        ? content
        : Number((content as string).replace("inf", "Infinity"));
    case "bytes":
      return Uint8Array.fromHex(content);
    case "decimal":
    case "uuid":
    case "date":
      return content;
    case "time":
    case "datetime":
      return canonicalTime(content);
    case "tuple":
      return plainOf(content);
    case "dict":
      return Object.fromEntries(
        Object.entries(content).map(([key, inner]) => [
          key,
          plainOf(inner as PythonValue),
        ]),
      );
    case "scalar":
      return elementsOf(content, bytes)[0]!;
    case "array":
      return nested(
        elementsOf(content, bytes),
        shape,
      );
  }
  throw new TypeError(`${kind} has no plain form`);
}

/** Returns a time without trailing zeros in its fraction of a second, and with UTC as `Z`. */
export function canonicalTime(text: string): string {
  return text.replace("+00:00", "Z").replace(/(\.\d*?)0+(?=Z|$)/, "$1")
    .replace(/\.(?=Z|$)/, "");
}

/** Decodes the elements of a NumPy array. */
function elementsOf(dtype: string, hex: string): PlainValue[] {
  const { buffer } = Uint8Array.fromHex(hex);
  switch (dtype) {
    case "|b1":
      return Array.from(new Uint8Array(buffer), (one) => one !== 0);
    case "|i1":
      return Array.from(new Int8Array(buffer), BigInt);
    case "|u1":
      return Array.from(new Uint8Array(buffer), BigInt);
    case "<i2":
      return Array.from(new Int16Array(buffer), BigInt);
    case "<u2":
      return Array.from(new Uint16Array(buffer), BigInt);
    case "<i4":
      return Array.from(new Int32Array(buffer), BigInt);
    case "<u4":
      return Array.from(new Uint32Array(buffer), BigInt);
    case "<i8":
      return Array.from(new BigInt64Array(buffer));
    case "<u8":
      return Array.from(new BigUint64Array(buffer));
    case "<f2":
      return Array.from(new Float16Array(buffer));
    case "<f4":
      return Array.from(new Float32Array(buffer));
    case "<f8":
      return Array.from(new Float64Array(buffer));
  }
  throw new TypeError(`${dtype} is not of these`);
}

function nested(
  elements: readonly PlainValue[],
  shape: readonly number[],
): PlainValue {
  if (shape.length === 1) return elements;
  const [length, ...rest] = shape as [number, ...number[]];
  const size = elements.length / length;
  return Array.from(
    { length },
    (_, i) => nested(elements.slice(i * size, (i + 1) * size), rest),
  );
}

/** Returns the class of a value: `int`, `float`, `str`, `<f4` for a scalar, `array <f4` for an array, and so on. */
export function classOf(value: PythonValue): string {
  if (value === null) return "None";
  if (typeof value === "boolean") return "bool";
  if (typeof value === "string") return "str";
  if (Array.isArray(value)) return "list";
  const [[kind, content]] = Object.entries(value) as [[string, unknown]];
  if (kind === "scalar") return content as string;
  return kind === "array" ? `array ${content}` : kind;
}

/** Converts the times and integers of a plain value to the form that {@linkcode plainOf} gives them in `like`. */
export function alignedTo(value: unknown, like: PythonValue): unknown {
  if (value === null || like === null || typeof like !== "object") return value;
  if (Array.isArray(like)) {
    return (value as unknown[]).map((one, i) => alignedTo(one, like[i]!));
  }
  const [[kind, content]] = Object.entries(like) as [[string, never]];
  switch (kind) {
    case "int":
      return typeof value === "number" ? BigInt(value) : value;
    case "time":
    case "datetime":
      return canonicalTime(value as string);
    case "tuple":
      return alignedTo(value, content);
    case "dict":
      return Object.fromEntries(
        Object.entries(value as Record<string, unknown>).map(([key, inner]) => [
          key,
          alignedTo(inner, content[key] ?? null),
        ]),
      );
  }
  return value;
}
