import { elementCount, type NdArray } from "../../codecs/numpy/nd_array.ts";
import type { ArrayPart } from "./value_messages.ts";

const MOST_BYTES = 4 << 20;

const LARGEST_FLOAT32 = 3.4028234663852886e38;

/**
 * Returns a range of an array's numbers, in C order, as bytes for drawing.
 *
 * @param start Index of the first element.
 * @throws {RangeError} If the array has no such element or is not numeric.
 */
export function arrayPart(array: NdArray, start: number): ArrayPart {
  const { dtype, data, shape } = array;
  const count = elementCount(shape);
  if (!"biuf".includes(dtype[1]!)) {
    throw new RangeError(`only arrays of numbers have parts, not ${dtype}`);
  }
  if (start >= count) {
    throw new RangeError(`element ${start} is out of bounds: it has ${count}`);
  }
  const isSmall = dtype === "|u1" || dtype[1] === "b";
  // Only float64 can exceed float32: other types need no scan for each part.
  const isFloat32 = !isSmall &&
    !(dtype.slice(1) === "f8" && isOutside(data, count));
  const ofType = isSmall ? Uint8Array : isFloat32 ? Float32Array : Float64Array;
  const end = Math.min(count, start + MOST_BYTES / ofType.BYTES_PER_ELEMENT);
  const numbers = new ofType(end - start);
  for (let at = start; at < end; at++) numbers[at - start] = Number(data[at]);
  return {
    kind: "array-part",
    start,
    type: isSmall ? "uint8" : isFloat32 ? "float32" : "float64",
    base64: new Uint8Array(numbers.buffer).toBase64(),
  };
}

/** Whether an array has a finite number beyond the float32 range. */
function isOutside(data: ArrayLike<unknown>, count: number): boolean {
  for (let at = 0; at < count; at++) {
    const value = Math.abs(Number(data[at]));
    if (value > LARGEST_FLOAT32 && value < Infinity) return true;
  }
  return false;
}
