/** What stands for an entry in a listing: its picture, else a drawing of its kind. */
import type { Entry } from "../../api/messages.ts";
import { pictureUrl } from "../api.ts";
import { element, setAttribute } from "../dom.ts";
import { icon } from "../icons.ts";

/** A place for a picture, which is drawn in again and again. */
export class Thumbnail {
  readonly element: HTMLElement;
  readonly #image: HTMLImageElement;
  readonly #drawing = element("span", { class: "drawing" });
  #kind = "";
  #url: string | null = null;

  constructor() {
    this.#image = element("img", {
      alt: "",
      decoding: "async",
      draggable: "false",
      load: () => this.#show(true),
      error: () => this.#show(false),
    });
    this.#image.hidden = true;
    this.element = element(
      "span",
      { class: "thumbnail" },
      this.#drawing,
      this.#image,
    );
  }

  /** Draws an entry; its picture only where it does not go by too fast to be looked at. */
  draw(entry: Entry | undefined, isPassing: boolean): void {
    const kind = entry?.kind ?? "";
    if (kind !== this.#kind) {
      this.#kind = kind;
      this.#drawing.replaceChildren(...(kind === "" ? [] : [icon(kind)]));
    }
    const url = entry?.thumbnailUrl ?? null;
    if (url === this.#url) return;
    this.#show(false);
    if (isPassing && url !== null) {
      this.#url = null;
      this.#image.removeAttribute("src");
      return;
    }
    this.#url = url;
    setAttribute(
      this.#image,
      "src",
      url === null ? undefined : pictureUrl(url),
    );
  }

  #show(isPicture: boolean): void {
    if (this.#image.hidden === !isPicture) return;
    this.#image.hidden = !isPicture;
    this.#drawing.hidden = isPicture;
    this.element.classList.toggle("filled", isPicture);
    const isSmall = isPicture && this.#image.naturalWidth <= 64 &&
      this.#image.naturalHeight <= 64;
    this.#image.classList.toggle("pixels", isSmall);
  }
}
