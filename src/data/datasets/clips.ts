import type { NdArray } from "../../codecs/numpy/nd_array.ts";
import { stackArrays } from "../loader/batch/stack_arrays.ts";
import type { Random } from "../random/random.ts";
import { isBytes, isPicture } from "../transforms/picture.ts";
import { arrayOf, ToArrayVideo } from "../transforms/to_array.ts";
import type { TakeArray } from "../transforms/array_rows.ts";
import { finished } from "../transforms/compose.ts";
import { PLAN } from "../transforms/transform.ts";

/** Selection of a clip's frames, as a video dataset takes it. */
export interface ClipOptions {
  readonly numFrames?: number | undefined;
  readonly stepSize?: number | undefined;
  readonly isVal?: boolean | undefined;
  readonly randomOffset?: boolean | undefined;
}

/**
 * Checks `numFrames` and `stepSize`.
 *
 * @throws {RangeError} If one is not a whole number ≥ 1.
 */
export function assertClipOptions(
  { numFrames, stepSize }: ClipOptions,
): void {
  for (const [name, value] of Object.entries({ numFrames, stepSize })) {
    if (value === undefined || Number.isSafeInteger(value) && value > 0) {
      continue;
    }
    throw new RangeError(
      `The option ${name} must be a whole number from 1 ` +
        `on${
          name === "numFrames"
            ? ", or undefined for all frames"
            : ", or undefined"
        }, ` + `not ${value}`,
    );
  }
}

/**
 * Returns the frames of a clip: fewer than `numFrames` if the video is too short.
 *
 * @param count Number of frames of the video.
 * @param random Random numbers that decide where the clip starts.
 * @returns Frame numbers from 0, ascending.
 */
export function clipFrames(
  count: number,
  { numFrames, stepSize = 1, isVal = false, randomOffset = true }: ClipOptions,
  random: Random,
): number[] {
  const wanted = numFrames ?? Math.ceil(count / stepSize);
  const spare = numFrames === undefined ? 0 : count - wanted * stepSize;
  // GulpIO never draws the last offset, so it never sees the last frames of its videos.
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
 * Converts the pictures of a sample to arrays, or stacks its frames in one array.
 *
 * @param made Result of a transform. Anything but pictures or lists of pictures or arrays is returned as it is.
 * @param take Allocates the array.
 * @throws {TypeError | DataError} If frames to be stacked differ in size.
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

/** Memory of exactly the size of a clip, not shared with the batch. */
const OWN_MEMORY = {
  take: (length: number) => new Uint8Array(length),
  buffers: [],
};

const ADVICE = "Give them one size in the transform, or open with stack: false";

function isArray(value: unknown): value is NdArray {
  return typeof value === "object" && value !== null && "shape" in value &&
    "dtype" in value && "data" in value && ArrayBuffer.isView(value.data);
}
