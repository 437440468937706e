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
/** The address of the list that the open entry was chosen from, where that is no directory. */
let results: string | undefined;

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

/** Remembers a list of what was found, or none, as that from which entries are opened. */
export function rememberResults(hash: string | undefined): void {
  results = hash;
}

/** Where closing an entry leads: to the list that it was opened from, as it was left. */
export function hashToCloseTo(parentUrl: string): string {
  return results ?? hashOf(parentUrl, { ...places.get(parentUrl) });
}
