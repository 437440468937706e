/** Entries as tiles with an image, and as lines of a table. */
import type { Entry, Kind } from "../../api/messages.ts";
import { element, setAttribute } from "../dom.ts";
import { icon } from "../icons.ts";
import { hashOf } from "../route.ts";
import { loadPicture, thumbnailUrl } from "../pictures.ts";
import { bytes, count, shownName } from "../text.ts";

export const KIND_NAMES: Readonly<Record<Kind, string>> = {
  directory: "folder",
  clip: "clip",
  datapoint: "sample",
  image: "picture",
  svg: "SVG",
  video: "video",
  audio: "audio",
  text: "text",
  json: "JSON",
  csv: "CSV",
  array: "array",
  pickle: "pickle",
  msgpack: "MessagePack",
  html: "HTML",
  pdf: "PDF",
  binary: "binary",
};

export interface Placed {
  readonly entry: Entry | undefined;
  readonly index: number;
  readonly href: string;
  /** Displayed name or path. */
  readonly name: string;
}

/** Returns the link to an entry. `index` is that in its directory, or in `list`, the address of another list. */
export function entryHref(entry: Entry, index: number, list?: string): string {
  return entry.kind === "directory"
    ? hashOf(entry.url)
    : hashOf(entry.url, { at: index, list });
}

export type DrawEntry = (
  placed: Placed,
  into: HTMLElement,
  isPassing: boolean,
) => void;

export interface Painter {
  make(): HTMLElement;
  draw: DrawEntry;
}

/** Name of an entry that is not loaded yet. */
const LOADING = "…";

function says({ entry, name }: Placed): string {
  if (entry === undefined) return LOADING;
  if (entry.size === null) return `${name}, ${reasonOf(entry)}`;
  const size = entry.isDirectory ? "" : `, ${bytes(entry.size)}`;
  return `${name}, ${KIND_NAMES[entry.kind]}${size}`;
}

function reasonOf({ damage }: Entry): string {
  return `damaged: ${damage ?? "its size is not known"}`;
}

function setState(of: HTMLElement, entry: Entry | undefined): void {
  const state = entry === undefined
    ? "loading"
    : entry.size === null
    ? "damaged"
    : entry.size === 0 && !entry.isDirectory
    ? "hollow"
    : undefined;
  setAttribute(of, "data-state", state);
}

/** Template: cloning is cheaper than creating. */
const PLACE = element(
  "span",
  { class: "thumbnail" },
  element("span", { class: "drawing" }),
  element("img", {
    alt: "",
    decoding: "async",
    draggable: "false",
    hidden: true,
  }),
);

class Thumbnail {
  readonly element = PLACE.cloneNode(true) as HTMLElement;
  readonly #drawing = this.element.querySelector("span")!;
  readonly #image = this.element.querySelector("img")!;
  #kind = "";
  #url: string | null = null;

  constructor() {
    this.#image.addEventListener("load", () => this.#show(true));
    this.#image.addEventListener("error", () => {
      this.#show(false);
      this.element.classList.add("undrawn");
    });
  }

  /** Draws an entry, without its image if it scrolls by too fast. `edge` is the longer side in CSS pixels. */
  draw(entry: Entry | undefined, isPassing: boolean, edge: number): void {
    const kind = entry?.kind ?? "";
    if (kind !== this.#kind) {
      this.#kind = kind;
      this.#drawing.replaceChildren(...(kind === "" ? [] : [icon(kind)]));
    }
    const url = entry?.thumbnailUrl ?? null;
    if (url === this.#url) return;
    this.element.classList.remove("undrawn");
    this.#show(false);
    if (isPassing && url !== null) {
      this.#url = null;
      loadPicture(this.#image, undefined);
      return;
    }
    this.#url = url;
    const small = url === null ? undefined : thumbnailUrl(url, edge);
    loadPicture(this.#image, small);
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

const TILE = element(
  "a",
  { class: "tile", role: "option", tabindex: -1, draggable: "false" },
  element("span", { class: "caption" }),
);

/** Creates a painter of tiles, of a size in CSS pixels. */
export function tilePainter(edge: () => number): Painter {
  const parts = new WeakMap<
    HTMLElement,
    { thumbnail: Thumbnail; caption: HTMLElement }
  >();
  return {
    make() {
      const thumbnail = new Thumbnail();
      const tile = TILE.cloneNode(true) as HTMLElement;
      const caption = tile.querySelector("span")!;
      tile.prepend(thumbnail.element);
      parts.set(tile, { thumbnail, caption });
      return tile;
    },
    draw(placed, tile, isPassing) {
      const { thumbnail, caption } = parts.get(tile)!;
      const { entry } = placed;
      thumbnail.draw(entry, isPassing, edge());
      setText(caption, entry === undefined ? LOADING : placed.name);
      setAttribute(tile, "href", entry && placed.href);
      setState(tile, entry);
      const isDamaged = entry?.size === null;
      const title = isDamaged
        ? `${placed.name}: ${reasonOf(entry)}`
        : placed.name;
      setAttribute(tile, "title", entry && title);
      setAttribute(tile, "aria-label", says(placed));
    },
  };
}

/** Size of a thumbnail in a line, in CSS pixels. */
const LINE_EDGE = 28;

/** Creates a painter of table lines: number, name, kind, size. */
export function linePainter(): Painter {
  const parts = new WeakMap<
    HTMLElement,
    {
      thumbnail: Thumbnail;
      number: HTMLElement;
      link: HTMLElement;
      kind: HTMLElement;
      size: HTMLElement;
    }
  >();
  const cell = (name: string, ...children: Node[]) =>
    element("span", { class: name, role: "gridcell" }, ...children);
  return {
    make() {
      const thumbnail = new Thumbnail();
      const link = element("a", { tabindex: -1, draggable: "false" });
      const [number, kind, size] = [cell("number"), cell("kind"), cell("size")];
      const line = element(
        "div",
        { class: "line", role: "row" },
        number,
        cell("name", thumbnail.element, link),
        kind,
        size,
      );
      parts.set(line, { thumbnail, number, link, kind, size });
      return line;
    },
    draw(placed, line, isPassing) {
      const { thumbnail, number, link, kind, size } = parts.get(line)!;
      const { entry } = placed;
      thumbnail.draw(entry, isPassing, LINE_EDGE);
      setText(number, count(placed.index));
      setText(link, entry === undefined ? LOADING : placed.name);
      setAttribute(link, "href", entry && placed.href);
      setAttribute(link, "title", entry && placed.name);
      setText(kind, entry === undefined ? "" : KIND_NAMES[entry.kind]);
      setState(line, entry);
      const isDamaged = entry?.size === null;
      setText(
        size,
        entry === undefined
          ? ""
          : isDamaged
          ? "damaged"
          : entry.isDirectory
          ? ""
          : bytes(entry.size),
      );
      setAttribute(size, "title", isDamaged ? reasonOf(entry) : undefined);
    },
  };
}

export function lineHead(): HTMLElement {
  const names = [["number", "#"], ["name", "Name"], ["kind", "Kind"], [
    "size",
    "Size",
  ]] as const;
  return element(
    "div",
    { class: "line head", role: "row", "aria-rowindex": 1 },
    ...names.map(([name, text]) =>
      element("span", { class: name, role: "columnheader" }, text)
    ),
  );
}

/** Returns an entry's path relative to a directory. */
export function nameBelow(entry: Entry, directory: string): string {
  const below = directory === "" ? "" : `${directory}/`;
  return shownName(
    entry.path.startsWith(below) ? entry.path.slice(below.length) : entry.path,
  );
}

function setText(of: HTMLElement, text: string): void {
  if (of.textContent !== text) of.textContent = text;
}
