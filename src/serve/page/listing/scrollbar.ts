/** Where the scrollbar stands for a place in a whole that may be higher than any element of a browser. */

/** Browsers have no elements higher than 17 to 33 million pixels. */
const MOST_HEIGHT = 8_000_000;

/** Pixels at both ends that the scrollbar stands for one by one: a wheel would be at its end before the list is. */
const EXACT = 8000;

/** The height of the element that scrolls for a whole. */
export function elementHeight(height: number): number {
  return Math.min(MOST_HEIGHT, Math.round(height));
}

/**
 * Returns where an element is scrolled to for a place in the whole.
 *
 * @param position The upper end of what is seen of the whole, in pixels.
 * @param height Of the whole.
 * @param room Height of what is seen.
 */
export function scrollTopOf(
  position: number,
  height: number,
  room: number,
): number {
  if (height <= MOST_HEIGHT) return position;
  return mapped(position, height - room, MOST_HEIGHT - room);
}

/** Returns the place in the whole for where its element is scrolled to. */
export function positionOf(
  scrollTop: number,
  height: number,
  room: number,
): number {
  if (height <= MOST_HEIGHT) return scrollTop;
  return mapped(scrollTop, MOST_HEIGHT - room, height - room);
}

/** A place in one range, of which the ends are the same in another one, and the middle is stretched. */
function mapped(place: number, from: number, to: number): number {
  if (place <= EXACT) return place;
  if (place >= from - EXACT) return to - (from - place);
  return EXACT + (place - EXACT) * (to - 2 * EXACT) / (from - 2 * EXACT);
}
