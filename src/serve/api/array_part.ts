import { elementCount, type NdArray } from "../../codecs/numpy/nd_array.ts";
import type { ArrayPart } from "./value_messages.ts";

/** Bytes of a part. */
const MOST_BYTES = 4 << 20;

/** The largest finite number of 32 bits. */
const LARGEST_FLOAT32 = 3.4028234663852886e38;

/**
 * A run of an array's numbers, in C order, as bytes to be drawn.
 *
 * @param start The first element.
 * @throws {RangeError} If the array has no such element, or is none of numbers.
 */
export function arrayPart(array: NdArray, start: number): ArrayPart {
  const { dtype, data, shape } = array;
  const count = elementCount(shape);
  if (!"biuf".includes(dtype[1]!)) {
    throw new RangeError(`parts are of numbers, and it has ${dtype}`);
  }
  if (start >= count) {
    throw new RangeError(`it has ${count} elements, and ${start} is none`);
  }
  const isSmall = dtype === "|u1" || dtype[1] === "b";
  // No other number is outside: parts need not look through all of them each time.
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

/** Whether a finite number has none of 32 bits that is near. */
function isOutside(data: ArrayLike<unknown>, count: number): boolean {
  for (let at = 0; at < count; at++) {
    const value = Math.abs(Number(data[at]));
    if (value > LARGEST_FLOAT32 && value < Infinity) return true;
  }
  return false;
}
