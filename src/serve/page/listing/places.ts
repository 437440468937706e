/** Where directories were left: coming back leads there. */
import { hashOf } from "../route.ts";

/** How a directory was shown when it was left. */
interface Place {
  readonly view: string | null;
  /** The first entry that was seen. */
  readonly at: number | null;
}

/** How many are remembered. */
const MOST = 100;

const places = new Map<string, Place>();
const opened = { parentUrl: "", index: -1 };

/** Remembers how a directory is shown. */
export function rememberPlace(url: string, place: Place): void {
  places.delete(url); // to stand last
  places.set(url, place);
  const [oldest] = places.keys();
  if (places.size > MOST) places.delete(oldest!);
}

/** Remembers which entry of a directory is open. */
export function rememberOpened(parentUrl: string, index: number): void {
  Object.assign(opened, { parentUrl, index });
}

/** The index of the entry of a directory that was opened last, or -1. */
export function openedIn(url: string): number {
  return opened.parentUrl === url ? opened.index : -1;
}

/** The link to a directory as it was left. */
export function hashOfPlace(url: string): string {
  return hashOf(url, { ...places.get(url) });
}
