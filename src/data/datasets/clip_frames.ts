import type { Random } from "../random/random.ts";

/** Which frames of a video are a clip. */
export interface ClipOptions {
  /** Number of frames of each clip; unless given, all there are. */
  readonly numFrames?: number | undefined;
  /** How far it is from one frame to the next: 2 takes every second one. Unless given, 1. */
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
