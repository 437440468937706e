import type { NdArray } from "../../codecs/numpy/nd_array.ts";
import { stackArrays } from "../loader/batch/stack_arrays.ts";
import type { Random } from "../random/random.ts";
import { isBytes, isPicture } from "../transforms/picture.ts";
import { arrayOf, ToArrayVideo } from "../transforms/to_array.ts";
import type { TakeArray } from "../transforms/array_rows.ts";
import { finished } from "../transforms/compose.ts";
import { PLAN } from "../transforms/transform.ts";

/** Which frames of a video are a clip. */
export interface ClipOptions {
  /** Number of frames of each clip; unless given, all there are. */
  readonly numFrames?: number | undefined;
  /** Distance from one frame to the next: 2 takes every second one. Unless given, 1. */
  readonly stepSize?: number | undefined;
  /** For validation: clips start at the first frame. Unless given, `false`. */
  readonly isVal?: boolean | undefined;
  /**
   * Whether a clip of a video that is longer starts at a random frame, another one in each epoch. Unless given,
   * `true`.
   */
  readonly randomOffset?: boolean | undefined;
}

/**
 * Makes sure that options say which frames are a clip.
 *
 * @throws {RangeError} If they do not.
 */
export function assertClipOptions(
  { numFrames, stepSize }: ClipOptions,
): void {
  for (const [name, value] of Object.entries({ numFrames, stepSize })) {
    if (value === undefined || Number.isSafeInteger(value) && value > 0) {
      continue;
    }
    throw new RangeError(
      `The option ${name} is ${value}: give a whole number from 1 on, or leave it out` +
        (name === "numFrames" ? " for all frames" : ""),
    );
  }
}

/**
 * The frames of a clip that are read: fewer than `numFrames` of a video that is too short.
 *
 * @param count How many frames the video has.
 * @param random Says where the clip starts.
 * @returns Numbers of frames, from 0, ascending.
 */
export function clipFrames(
  count: number,
  { numFrames, stepSize = 1, isVal = false, randomOffset = true }: ClipOptions,
  random: Random,
): number[] {
  const wanted = numFrames ?? Math.ceil(count / stepSize);
  const spare = numFrames === undefined ? 0 : count - wanted * stepSize;
  // GulpIO leaves out the last place: its videos' last frames are never seen.
  const offset = spare > 0 && randomOffset && !isVal
    ? random.int(spare + 1)
    : 0;
  const there = Math.ceil((count - offset) / stepSize);
  return Array.from(
    { length: Math.min(wanted, there) },
    (_, i) => offset + i * stepSize,
  );
}

/**
 * The data of a sample: frames as arrays, or as one array.
 *
 * @param made What a transform has made; what is no list of pictures or arrays stays as it is.
 * @param take Memory for the array that it may become.
 * @throws {TypeError | DataError} If frames that are to be stacked differ in size.
 */
export function finishClip(
  made: unknown,
  stack: boolean,
  take: TakeArray,
): unknown {
  if (isPicture(made)) return arrayOf(made);
  if (!Array.isArray(made) || made.length === 0) return made;
  if (made.every(isPicture)) {
    if (!stack) return made.map(arrayOf);
    const dtype = isBytes(made[0]!) ? "uint8" : "float32";
    const array = new ToArrayVideo({ dtype, layout: "channels-last" });
    return finished(array[PLAN](made), take);
  }
  return stack && made.every(isArray)
    ? stackArrays(made, OWN_MEMORY, "frames", ADVICE)
    : made;
}

/** A clip's memory is its own, and no larger than it. */
const OWN_MEMORY = {
  take: (length: number) => new Uint8Array(length),
  buffers: [],
};

const ADVICE = "give them one size in the transform, or open with stack: false";

function isArray(value: unknown): value is NdArray {
  return typeof value === "object" && value !== null && "shape" in value &&
    "dtype" in value && "data" in value && ArrayBuffer.isView(value.data);
}
