/** The frames of a clip as pictures: those around the one that is shown, the next ones ahead. */
import { get } from "../api.ts";
import { hold } from "../listing/source.ts";
import { loadPicture, pictureUrl } from "../pictures.ts";
import type { ClipView, Entry, ListMessage } from "../../api/messages.ts";

/** How many pictures are held, and how many of them are asked for ahead. */
const MOST_HELD = 64;
const AHEAD = 12;

/** Names are asked for by so many. */
const NAMES = 1000;

/** Loads frames, each once. */
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

  /** A frame, decoded. It fails where the frame is damaged. */
  picture(index: number): Promise<HTMLImageElement> {
    let picture = this.#pictures.get(index);
    if (picture === undefined) {
      picture = this.#load(index);
      picture.catch(() => {}); // told to who asks for it
    }
    hold(this.#pictures, index, picture, MOST_HELD);
    return picture;
  }

  /** Has the frames loaded that come next; behind the last one comes the first. */
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
