import type { NdArray } from "../../codecs/numpy/nd_array.ts";
import { stackArrays } from "../loader/batch/stack_arrays.ts";
import { isBytes, isPicture } from "../transforms/picture.ts";
import { arrayOf } from "../transforms/to_array.ts";
import { ToArrayVideo } from "../transforms/video/to_array_video.ts";

/**
 * The data of a sample: frames as arrays, or as one array.
 *
 * @param made What a transform has made; what is no list of pictures or arrays stays as it is.
 * @throws {TypeError | DataError} If frames that are to be stacked differ in size.
 */
export function finishClip(made: unknown, stack: boolean): unknown {
  if (isPicture(made)) return arrayOf(made);
  if (!Array.isArray(made) || made.length === 0) return made;
  if (made.every(isPicture)) {
    if (!stack) return made.map(arrayOf);
    const dtype = isBytes(made[0]!) ? "uint8" : "float32";
    return new ToArrayVideo({ dtype, layout: "channels-last" }).apply(made);
  }
  return stack && made.every(isArray)
    ? stackArrays(made, OWN_MEMORY, "frames", ADVICE)
    : made;
}

/** A clip's memory is its own, and no larger than it. */
const OWN_MEMORY = { take: (length: number) => new Uint8Array(length) };

const ADVICE = "give them one size in the transform, or open with stack: false";

function isArray(value: unknown): value is NdArray {
  return typeof value === "object" && value !== null && "shape" in value &&
    "dtype" in value && "data" in value && ArrayBuffer.isView(value.data);
}
