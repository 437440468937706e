/** Maps scrollbar positions to a virtual list, which may be higher than any DOM element. */

/** Below the limit of browsers: 17 to 33 million pixels. */
const MOST_HEIGHT = 8_000_000;

/** Pixels at both ends that map one to one: otherwise a wheel would reach its end before the list does. */
const EXACT = 8000;

export function elementHeight(height: number): number {
  return Math.min(MOST_HEIGHT, Math.round(height));
}

/** Returns the element's `scrollTop` for a viewport of height `room` at `position` in a list. */
export function scrollTopOf(
  position: number,
  height: number,
  room: number,
): number {
  if (height <= MOST_HEIGHT) return position;
  return mapped(position, height - room, MOST_HEIGHT - room);
}

/** Returns the position in the list for the element's `scrollTop`. */
export function positionOf(
  scrollTop: number,
  height: number,
  room: number,
): number {
  if (height <= MOST_HEIGHT) return scrollTop;
  return mapped(scrollTop, MOST_HEIGHT - room, height - room);
}

/** Maps a range to another: one to one at both ends, stretched in the middle. */
function mapped(place: number, from: number, to: number): number {
  if (place <= EXACT) return place;
  if (place >= from - EXACT) return to - (from - place);
  return EXACT + (place - EXACT) * (to - 2 * EXACT) / (from - 2 * EXACT);
}
