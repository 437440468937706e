import { IndexError } from "../../../base/errors.ts";

/**
 * A slice with Python's meaning: negative positions count from the end, those beyond it are taken as
 * the end, a negative step goes backwards.
 */
export interface FrameSlice {
  /** The first position; from the beginning (or the end, going backwards) where not given. */
  readonly start?: number | null | undefined;
  /** The position before which it ends; not itself part of it. */
  readonly stop?: number | null | undefined;
  /** How far from one to the next; 1 where not given, never 0. */
  readonly step?: number | null | undefined;
}

/**
 * Which frames of a video: a slice, or indices in any order, negative ones from the end; all of them
 * where it is `null`, as for Python's `None`.
 */
export type FrameSelection = FrameSlice | Iterable<number> | null;

/**
 * The frames that a selection means.
 *
 * @param count How many frames the video has.
 * @param name Says what errors call the video.
 * @throws {IndexError} If an index does not exist.
 * @throws {RangeError} If a slice's step is 0.
 * @throws {TypeError} If a position is no integer.
 */
export function selectFrames(
  selection: FrameSelection | undefined,
  count: number,
  name: () => string,
): number[] {
  selection ??= {};
  if (typeof selection !== "object") {
    throw new TypeError(
      "Frames are chosen by a slice such as {start: 0, stop: 9}, or by a list of indices",
    );
  }
  if (Symbol.iterator in selection) return pick(selection, count, name);
  return slice(selection, count);
}

function pick(
  indices: Iterable<number>,
  count: number,
  name: () => string,
): number[] {
  return Array.from(indices, (index) => {
    const frame = integer(index, "index");
    if (frame >= count || frame < -count) {
      throw new IndexError(frame, count, name(), -count, "frame");
    }
    return frame < 0 ? frame + count : frame;
  });
}

/** `slice.indices(count)` of Python, and what it goes through. */
function slice({ start, stop, step }: FrameSlice, count: number): number[] {
  const by = integer(step ?? 1, "step");
  if (by === 0) throw new RangeError("slice step cannot be zero");
  const [lowest, highest] = by > 0 ? [0, count] : [-1, count - 1];
  const clamp = (position: number) => {
    const from = position < 0 ? position + count : position;
    return Math.min(Math.max(from, lowest), highest);
  };
  const given = (
    position: number | null | undefined,
    what: string,
    otherwise: number,
  ) =>
    position === null || position === undefined
      ? otherwise
      : clamp(integer(position, what));
  const first = given(start, "start", by > 0 ? lowest : highest);
  const end = given(stop, "stop", by > 0 ? highest : lowest);
  return range(first, end, by);
}

function range(start: number, stop: number, step: number): number[] {
  const length = Math.max(0, Math.ceil((stop - start) / step));
  return Array.from({ length }, (_, i) => start + i * step);
}

function integer(value: number, what: string): number {
  if (Number.isSafeInteger(value)) return value;
  throw new TypeError(`A frame's ${what} must be an integer, it is ${value}`);
}
