import { NUMBER_ARRAYS } from "../../codecs/columnar/numbers.ts";
import { MsgpackFloat } from "../../codecs/msgpack/value.ts";
import type { NumericArray } from "../../codecs/numpy/nd_array.ts";
import type { NpyContent } from "../../codecs/numpy/npy.ts";
import type { ScalarType } from "../../codecs/values/value_type.ts";

const ARRAYS: Readonly<
  Partial<Record<ScalarType, { from(list: Iterable<never>): NumericArray }>>
> = NUMBER_ARRAYS;

/** Whether lists of a type can be arrays; not Booleans, nor integers of arbitrary size. */
export function isArrayType(type: ScalarType): boolean {
  return ARRAYS[type] !== undefined;
}

/** Makes an array of a list of numbers. Throws a `RangeError` if an integer is out of the type's range. */
export function numbersArray(list: unknown, type: ScalarType): NpyContent {
  const numbers = Array.from(list as Iterable<unknown>, numberIn);
  const data = ARRAYS[type]!.from(numbers as never);
  if (!type.startsWith("float")) {
    const wrong = numbers.find((number, i) => number !== data[i]);
    if (wrong !== undefined) {
      throw new RangeError(`${wrong} is out of range of '${type}'`);
    }
  }
  return { data, shape: [data.length] };
}

export function numberIn(value: unknown): number | bigint {
  if (typeof value === "number" || typeof value === "bigint") return value;
  if (value instanceof MsgpackFloat) return value.value;
  throw new TypeError("an element is not a number");
}
