/** Frames of a clip as images: caches those around the current one and prefetches the next. */
import { get } from "../api.ts";
import { hold } from "../listing/source.ts";
import { loadPicture, pictureUrl } from "../pictures.ts";
import type { ClipView, Entry, ListMessage } from "../../api/messages.ts";

/** Maximum number of images cached, and prefetched. */
const MOST_HELD = 64;
const AHEAD = 12;

const NAMES = 1000;

export class Frames {
  readonly length: number;
  readonly #entry: Entry;
  readonly #signal: AbortSignal;
  readonly #names = new Map<number, Promise<readonly string[]>>();
  readonly #pictures = new Map<number, Promise<HTMLImageElement>>();

  constructor(entry: Entry, view: ClipView, signal: AbortSignal) {
    this.length = view.frames;
    this.#entry = entry;
    this.#signal = signal;
    const isWhole = view.names.length >= Math.min(NAMES, view.frames);
    if (isWhole && view.names.every((name) => name.isWellFormed())) {
      const urls = view.names.map((name) =>
        `${entry.url}/${encodeURIComponent(name)}`
      );
      this.#names.set(0, Promise.resolve(urls));
    }
  }

  /** Loads and decodes a frame. Rejects if it is damaged. */
  picture(index: number): Promise<HTMLImageElement> {
    let picture = this.#pictures.get(index);
    if (picture === undefined) {
      picture = this.#load(index);
      picture.catch(() => {}); // reported to the caller
    }
    hold(this.#pictures, index, picture, MOST_HELD);
    return picture;
  }

  /** Prefetches the next frames, wrapping around. */
  goAhead(from: number): void {
    for (let i = 1; i <= Math.min(AHEAD, this.length - 1); i++) {
      void this.picture((from + i) % this.length);
    }
  }

  async #load(index: number): Promise<HTMLImageElement> {
    const picture = new Image();
    picture.decoding = "async";
    loadPicture(picture, pictureUrl(await this.#url(index)));
    await picture.decode();
    return picture;
  }

  async #url(index: number): Promise<string> {
    const page = Math.floor(index / NAMES);
    let urls = this.#names.get(page);
    if (urls === undefined) {
      urls = this.#list(page);
      this.#names.set(page, urls);
    }
    return (await urls)[index - page * NAMES]!;
  }

  async #list(page: number): Promise<readonly string[]> {
    const query = { path: this.#entry.url, at: page * NAMES, limit: NAMES };
    const answer = await get<ListMessage>("list", query, this.#signal);
    return answer.entries.map(({ url }) => url);
  }
}
