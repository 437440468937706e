import { checkArray } from "./encode_array.ts";
import type { NdArray } from "./nd_array.ts";

/** Whether a value is an {@linkcode NdArray}: these three fields that fit each other, and no other. */
export function isNdArray(value: unknown): value is NdArray {
  if (typeof value !== "object" || value === null) return false;
  const { dtype, shape, data } = value as Partial<NdArray>;
  const isCandidate = typeof dtype === "string" && Array.isArray(shape) &&
    (ArrayBuffer.isView(data) || isTexts(data)) &&
    Object.keys(value).length === 3;
  if (!isCandidate) return false;
  try {
    checkArray({ dtype, shape, data });
    return true;
  } catch {
    return false;
  }
}

function isTexts(data: unknown): data is string[] {
  return Array.isArray(data) && data.every((text) => typeof text === "string");
}
