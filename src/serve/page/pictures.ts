/** Loads images, and cancels those of a left view, which the browser would fetch before the next page. */
import { fileUrl } from "./api.ts";

/** The server rejects images with more pixels: they would exhaust the browser's memory. */
const MOST_PIXELS = 100_000_000;

/** Longer sides of thumbnails, in device pixels. */
const THUMBNAIL_EDGES = [256, 512] as const;
const LARGEST_EDGE = 2048;

const loading = new Set<HTMLImageElement>();
const watched = new WeakSet<HTMLImageElement>();

/** Returns the URL of a full-size image, with a limit on its pixels. */
export function pictureUrl(url: string): string {
  return `${fileUrl(url)}?most-pixels=${MOST_PIXELS}`;
}

/** Returns the URL of a thumbnail for a longer side in CSS pixels. */
export function thumbnailUrl(url: string, edge: number): string {
  const [small, large] = THUMBNAIL_EDGES;
  const isLarge = edge * devicePixelRatio > small;
  return `${fileUrl(url)}?thumbnail=${isLarge ? large : small}`;
}

/** Returns the URL of an image converted by the server at its maximum size. */
export function drawnUrl(url: string): string {
  return `${fileUrl(url)}?thumbnail=${LARGEST_EDGE}`;
}

/** Loads an image into an element, or clears it if there is no URL. */
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
        // The source may have been replaced since.
        if (image.complete) loading.delete(image);
      });
    }
  }
  loading.add(image);
  image.src = url;
}

export function cancelPictures(within?: Element): void {
  for (const image of loading) {
    if (within !== undefined && !within.contains(image)) continue;
    loading.delete(image);
    image.removeAttribute("src");
  }
}
