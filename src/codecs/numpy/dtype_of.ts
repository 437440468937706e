import type { NumericArray } from "./nd_array.ts";

/** What a class holds when nothing else is said. */
const DTYPES: Readonly<Record<string, string>> = {
  Int8Array: "|i1",
  Uint8Array: "|u1",
  Int16Array: "<i2",
  Uint16Array: "<u2",
  Int32Array: "<i4",
  Uint32Array: "<u4",
  BigInt64Array: "<i8",
  BigUint64Array: "<u8",
  Float16Array: "<f2",
  Float32Array: "<f4",
  Float64Array: "<f8",
};

/**
 * NumPy's name for the elements of a typed array.
 *
 * @throws {TypeError} If it has no such type.
 */
export function dtypeOf(data: NumericArray): string {
  // Not the constructor's name: Node's Buffer is a Uint8Array under another one.
  const name = data[Symbol.toStringTag];
  const dtype = DTYPES[name];
  if (dtype === undefined) {
    throw new TypeError(`NumPy has no type for the elements of ${name}`);
  }
  return dtype;
}
