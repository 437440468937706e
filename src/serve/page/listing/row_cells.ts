/** Values of datapoints as table cells. */
import { get } from "../api.ts";
import type { Cell, CellValue } from "../../api/messages.ts";
import type {
  ArrayValue,
  Display,
  ValueMessage,
} from "../../api/value_messages.ts";
import { element } from "../dom.ts";
import { icon } from "../icons.ts";
import { smallDrawing } from "../item/array_drawing.ts";
import { drawnOf, markerOf, numberText } from "../item/numbers.ts";
import { shortText } from "../item/tree.ts";
import { loadPicture, thumbnailUrl } from "../pictures.ts";
import { bytes, counted, shapeText, shownKey } from "../text.ts";
import { hold } from "./source.ts";

/** Maximum numbers of an array drawn in a cell, and of arrays cached. */
const MOST_NUMBERS = 1024;
const MOST_ARRAYS = 300;

/** Maximum longer side of images in cells, in CSS pixels. */
const CELL_EDGE = 128;

/** Maximum characters of a text in a cell, which truncates it further by lines. */
const MOST_TEXT = 1024;

/** Formats a value that is a single number; `undefined` for others. */
export function numberIn(value: CellValue): string | undefined {
  if (value.kind === "array") {
    return value.data?.length === 1 ? numberText(value.data[0]!) : undefined;
  }
  if (value.kind !== "tree") return undefined;
  const marker = markerOf(value.value)?.$;
  const isNumber = typeof value.value === "number" || marker === "integer" ||
    marker === "float";
  return isNumber ? shortText(value.value) : undefined;
}

/** Draws cells. Arrays that are not small are requested, two at a time. */
export class CellPainter {
  readonly #signal: AbortSignal;
  readonly #arrays = new Map<string, ArrayValue | null>();
  readonly #waiting = new Map<string, HTMLElement>();
  #asking = 0;

  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  /** Clears the queue of arrays to load, because others are in view now. */
  forget(): void {
    this.#waiting.clear();
  }

  draw(cell: Cell): Node {
    const { value } = cell;
    if (cell.kind === "image" && !cell.isList && cell.size) {
      return picture(cell);
    }
    const number = value && numberIn(value);
    if (number) {
      const shown = number.slice(0, MOST_TEXT);
      return element("span", { class: "number", title: shown }, shown);
    }
    switch (value?.kind) {
      case "text":
        return text(value.text, value.isCut);
      case "tree":
        if (value.value === null) return noText("null", "Null");
        return typeof value.value === "string"
          ? text(value.value, false)
          : tree(value.value);
      case "list":
        return element(
          "span",
          { class: "size" },
          counted(value.length, "value"),
        );
      case "array":
        return this.#array(cell, value);
    }
    return element(
      "span",
      { class: "size" },
      icon(cell.kind),
      cell.size === null ? " damaged" : ` ${bytes(cell.size)}`,
    );
  }

  #array(
    cell: Cell,
    { shape, dtype, data }: {
      readonly shape: readonly number[];
      readonly dtype: string;
      readonly data: ArrayValue["data"] | null;
    },
  ): Node {
    const said = element(
      "span",
      { class: "size" },
      `${shapeText(shape)} ${dtype}`,
    );
    const place = element("span", { class: "array-cell" });
    if (data !== null) {
      place.append(...present(smallDrawing({ shape, dtype, data })), said);
      return place;
    }
    place.append(said);
    const held = this.#arrays.get(cell.url);
    if (held) place.prepend(...present(smallDrawing(drawnOf(held))));
    if (held === undefined) {
      this.#waiting.set(cell.url, place);
      this.#askNext();
    }
    return place;
  }

  #askNext(): void {
    const [next] = this.#waiting;
    if (next === undefined || this.#asking >= 2) return;
    const [url, place] = next;
    this.#waiting.delete(url);
    this.#asking++;
    const query = { path: url, most: MOST_NUMBERS };
    get<ValueMessage>("value", query, this.#signal).then((value) => {
      const array = value.kind === "array" ? value : null;
      hold(this.#arrays, url, array, MOST_ARRAYS);
      if (array !== null) {
        place.prepend(...present(smallDrawing(drawnOf(array))));
      }
    }).catch(() => this.#arrays.set(url, null)).finally(() => {
      this.#asking--;
      if (!this.#signal.aborted) this.#askNext();
    });
  }
}

function present(drawing: Element | null): Element[] {
  return drawing === null ? [] : [drawing];
}

function tree(value: Display): Node {
  const shown = shortText(value).slice(0, MOST_TEXT);
  return element("span", { class: "tree", title: shown }, shown);
}

export function noText(shown: string, says: string): HTMLElement {
  return element("span", { class: "constant", title: says }, shown);
}

function text(of: string, isCut: boolean): Node {
  if (of === "") return noText('""', "An empty text");
  const shown = of.slice(0, MOST_TEXT);
  const isPart = isCut || shown.length < of.length;
  return element(
    "span",
    { class: isPart ? "words part" : "words" },
    `${shown}${isPart ? "…" : ""}`,
  );
}

function picture(cell: Cell): Node {
  const image = element("img", {
    alt: shownKey(cell.key),
    decoding: "async",
    load: () =>
      image.classList.toggle(
        "pixels",
        image.naturalWidth <= 64 && image.naturalHeight <= 64,
      ),
    error: () =>
      image.replaceWith(
        element("span", { class: "size" }, icon("image"), " not drawn"),
      ),
  });
  loadPicture(image, thumbnailUrl(cell.url, CELL_EDGE));
  return image;
}
