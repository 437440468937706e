/** Arrays in memory of numbers of a fixed width, by the names of their types. */
export const NUMBER_ARRAYS = {
  int8: Int8Array,
  int16: Int16Array,
  int32: Int32Array,
  int64: BigInt64Array,
  uint8: Uint8Array,
  uint16: Uint16Array,
  uint32: Uint32Array,
  uint64: BigUint64Array,
  float16: Float16Array,
  float32: Float32Array,
  float64: Float64Array,
} as const;

export type NumberName = keyof typeof NUMBER_ARRAYS;
export type Numbers = InstanceType<typeof NUMBER_ARRAYS[NumberName]>;

/** Returns the size of a number in bytes. */
export function widthOf(of: NumberName): number {
  return NUMBER_ARRAYS[of].BYTES_PER_ELEMENT;
}

/** Returns the little-endian numbers in bytes, copied if they are not aligned. */
export function numbersIn(bytes: Uint8Array, of: NumberName): Numbers {
  const width = widthOf(of);
  const aligned = bytes.byteOffset % width === 0 ? bytes : bytes.slice();
  const { buffer, byteOffset, byteLength } = aligned;
  return new NUMBER_ARRAYS[of](
    buffer as ArrayBuffer,
    byteOffset,
    byteLength / width,
  );
}
