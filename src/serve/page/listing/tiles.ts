/** Entries as tiles with a picture, and as lines of a table. */
import type { Entry, Kind } from "../../api/messages.ts";
import { element, setAttribute } from "../dom.ts";
import { icon } from "../icons.ts";
import { hashOf } from "../route.ts";
import { loadPicture, thumbnailUrl } from "../pictures.ts";
import { bytes, count, shownName } from "../text.ts";

/** How a kind is called. */
export const KIND_NAMES: Readonly<Record<Kind, string>> = {
  directory: "folder",
  clip: "clip",
  datapoint: "datapoint",
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

/** An entry that is shown, and where it stands. */
export interface Placed {
  readonly entry: Entry | undefined;
  readonly index: number;
  /** Where the link to it leads. */
  readonly href: string;
  /** How it is called here: its name, or its path. */
  readonly name: string;
}

/**
 * The link of an entry.
 *
 * @param index Its place in its directory or in `list`, which leads to its neighbours.
 * @param list The address of the list that it is opened from, where that is no directory.
 */
export function entryHref(entry: Entry, index: number, list?: string): string {
  return entry.kind === "directory"
    ? hashOf(entry.url)
    : hashOf(entry.url, { at: index, list });
}

/** Draws an entry into an element that this made. */
export type DrawEntry = (
  placed: Placed,
  into: HTMLElement,
  isPassing: boolean,
) => void;

/** Makes elements, and draws entries into them. */
export interface Painter {
  make(): HTMLElement;
  draw: DrawEntry;
}

/** What is not here yet is called so. */
const LOADING = "…";

function says({ entry, name }: Placed): string {
  if (entry === undefined) return LOADING;
  if (entry.size === null) return `${name}, ${reasonOf(entry)}`;
  const size = entry.isDirectory ? "" : `, ${bytes(entry.size)}`;
  return `${name}, ${KIND_NAMES[entry.kind]}${size}`;
}

/** Why an entry can't be read. */
function reasonOf({ damage }: Entry): string {
  return `damaged: ${damage ?? "its size is not known"}`;
}

/** Shows whether an entry is loading, damaged, empty, or none of these. */
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

/** Copied for each, which takes a browser less than making it. */
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

/** A place for a picture, which is drawn in again and again. */
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

  /**
   * Draws an entry; its picture only if it does not pass too fast to be looked at.
   *
   * @param edge The longer side of the place, in pixels of CSS.
   */
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

/** Copied as well. */
const TILE = element(
  "a",
  { class: "tile", role: "option", tabindex: -1, draggable: "false" },
  element("span", { class: "caption" }),
);

/**
 * Tiles.
 *
 * @param edge Returns the size of a tile, in pixels of CSS.
 */
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

/** Size of the place for a picture in a line, in pixels of CSS. */
const LINE_EDGE = 28;

/** Lines of a table: number, name, kind, size. */
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

/** The head of a table of lines. */
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

/** The name of an entry below a directory. */
export function nameBelow(entry: Entry, directory: string): string {
  const below = directory === "" ? "" : `${directory}/`;
  return shownName(
    entry.path.startsWith(below) ? entry.path.slice(below.length) : entry.path,
  );
}

function setText(of: HTMLElement, text: string): void {
  if (of.textContent !== text) of.textContent = text;
}
