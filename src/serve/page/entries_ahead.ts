/** Descriptions and pictures of entries, asked for before somebody goes to them. */
import type { Entry, EntryMessage } from "../api/messages.ts";
import { get } from "./api.ts";
import { hold } from "./listing/source.ts";
import { pictureUrl } from "./pictures.ts";

/** Entries whose descriptions, and whose pictures, are held. */
const MOST = 8;

const descriptions = new Map<string, Promise<EntryMessage>>();
const pictures = new Map<string, HTMLImageElement>();

/** Asks for what an entry is shown by. */
export function prefetchEntry({ url, thumbnailUrl }: Entry): void {
  if (!descriptions.has(url)) {
    const asked = get<EntryMessage>(
      "entry",
      { path: url },
      new AbortController().signal,
    );
    asked.catch(() => descriptions.delete(url)); // who goes there asks again
    hold(descriptions, url, asked, MOST);
  }
  if (thumbnailUrl === null || pictures.has(thumbnailUrl)) return;
  const image = new Image();
  image.src = pictureUrl(thumbnailUrl);
  hold(pictures, thumbnailUrl, image, MOST);
}

/** The description of an entry. */
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
