/** Loading pictures, and cancelling those of a view that is left: a browser would fetch them before the next page. */
import { fileUrl } from "./api.ts";

/** Pictures with more pixels are not sent to be drawn: they would take the browser's memory. */
const MOST_PIXELS = 100_000_000;

/** Longer sides of thumbnails, in pixels of the screen. */
const THUMBNAIL_EDGES = [256, 512] as const;
const LARGEST_EDGE = 2048;

const loading = new Set<HTMLImageElement>();
const watched = new WeakSet<HTMLImageElement>();

/** URL of a picture at full size; the server refuses one that would take the browser's memory. */
export function pictureUrl(url: string): string {
  return `${fileUrl(url)}?most-pixels=${MOST_PIXELS}`;
}

/**
 * URL of a picture in small.
 *
 * @param edge The longer side that it is shown at, in pixels of CSS.
 */
export function thumbnailUrl(url: string, edge: number): string {
  const [small, large] = THUMBNAIL_EDGES;
  const isLarge = edge * devicePixelRatio > small;
  return `${fileUrl(url)}?thumbnail=${isLarge ? large : small}`;
}

/** URL of a picture that the server has drawn, as large as it draws any. */
export function drawnUrl(url: string): string {
  return `${fileUrl(url)}?thumbnail=${LARGEST_EDGE}`;
}

/** Loads a picture into an element in place of the one before; none without a URL. */
export function loadPicture(
  image: HTMLImageElement,
  url: string | undefined,
): void {
  loading.delete(image);
  if (url === undefined) {
    image.removeAttribute("src");
    return;
  }
  if (!watched.has(image)) {
    watched.add(image);
    for (const event of ["load", "error"]) {
      image.addEventListener(event, () => {
        // Its source may have been replaced since.
        if (image.complete) loading.delete(image);
      });
    }
  }
  loading.add(image);
  image.src = url;
}

/**
 * Cancels pictures that are still loading.
 *
 * @param within Those in this element; all if it is omitted.
 */
export function cancelPictures(within?: Element): void {
  for (const image of loading) {
    if (within !== undefined && !within.contains(image)) continue;
    loading.delete(image);
    image.removeAttribute("src");
  }
}
