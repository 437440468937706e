import type { Image } from "../../../codecs/image/image.ts";
import type { NdArray } from "../../../codecs/numpy/nd_array.ts";

/** What samples are, as far as collating them goes. */
export type SampleKind =
  | "a number"
  | "bytes"
  | "a typed array"
  | "an array"
  | "an image"
  | "a list"
  | "an object"
  | "a single value";

/** What kind of sample a value is. */
export function kindOf(value: unknown): SampleKind {
  if (typeof value === "number") return "a number";
  if (typeof value !== "object" || value === null) return "a single value";
  if (Array.isArray(value)) return "a list";
  if (ArrayBuffer.isView(value)) {
    const isBytes = value instanceof Uint8Array ||
      value instanceof Uint8ClampedArray;
    if (isBytes) return "bytes";
    return value instanceof DataView ? "a single value" : "a typed array";
  }
  if (isArray(value)) return "an array";
  if (isImage(value)) return "an image";
  return OPAQUE.some((type) => value instanceof type)
    ? "a single value"
    : "an object";
}

const OPAQUE = [
  Date,
  RegExp,
  Error,
  Map,
  Set,
  ArrayBuffer,
  SharedArrayBuffer,
] as const;

function isArray(value: object): value is NdArray {
  const { dtype, shape, data } = value as Partial<NdArray>;
  return typeof dtype === "string" && Array.isArray(shape) &&
    (ArrayBuffer.isView(data) || Array.isArray(data));
}

function isImage(value: object): value is Image {
  const { data, height, width, channels } = value as Partial<Image>;
  return data instanceof Uint8Array && typeof height === "number" &&
    typeof width === "number" && typeof channels === "number";
}
