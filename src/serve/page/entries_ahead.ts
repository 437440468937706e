/** Prefetches descriptions and images of entries. */
import type { Entry, EntryMessage } from "../api/messages.ts";
import { get } from "./api.ts";
import { hold } from "./listing/source.ts";
import { pictureUrl } from "./pictures.ts";

/** Maximum number of descriptions cached, and of images. */
const MOST = 8;

const descriptions = new Map<string, Promise<EntryMessage>>();
const pictures = new Map<string, HTMLImageElement>();

export function prefetchEntry({ url, thumbnailUrl }: Entry): void {
  if (!descriptions.has(url)) {
    const asked = get<EntryMessage>(
      "entry",
      { path: url },
      new AbortController().signal,
    );
    asked.catch(() => descriptions.delete(url)); // opening the entry retries
    hold(descriptions, url, asked, MOST);
  }
  if (thumbnailUrl === null || pictures.has(thumbnailUrl)) return;
  const image = new Image();
  image.src = pictureUrl(thumbnailUrl);
  hold(pictures, thumbnailUrl, image, MOST);
}

/** Returns the description of an entry, from the cache if prefetched. */
export async function describedEntry(
  url: string,
  signal: AbortSignal,
): Promise<EntryMessage> {
  const asked = descriptions.get(url);
  if (asked !== undefined) {
    try {
      return await asked;
    } catch {
      signal.throwIfAborted();
    }
  }
  return await get<EntryMessage>("entry", { path: url }, signal);
}
