import { IndexError } from "../../../base/errors.ts";

/**
 * Frames of a video: a slice, or indices in any order, negative ones from the end; `null` is all, like Python's `None`.
 *
 * A slice is as in Python: negative positions count from the end, positions past it mean the end, and a negative step
 * goes backwards.
 */
export type FrameSelection =
  | {
    /** First position; by default the beginning, or the end if going backwards. */
    readonly start?: number | null | undefined;
    /** Position before which the slice ends. */
    readonly stop?: number | null | undefined;
    /** Distance between positions; 1 by default, never 0. */
    readonly step?: number | null | undefined;
  }
  | Iterable<number>
  | null;

type FrameSlice = Exclude<FrameSelection, Iterable<number> | null>;

/**
 * Returns the indices of selected frames; `name` returns the video's name for errors. Throws IndexError if an index
 * does not exist, RangeError if a slice's step is 0, TypeError if a position is not an integer.
 */
export function selectFrames(
  selection: FrameSelection | undefined,
  count: number,
  name: () => string,
): number[] {
  selection ??= {};
  if (typeof selection !== "object") {
    throw new TypeError(
      "Frames must be chosen by a slice such as {start: 0, stop: 9}, or by a list of indices",
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

/** Returns the indices of a slice, by Python's `slice.indices(count)`. */
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
  throw new TypeError(`A frame's ${what} must be an integer, not ${value}`);
}
