/** Datapoints as lines of a table, a column for each key. */
import type { Cell, Row, RowsMessage } from "../../api/messages.ts";
import { element, setAttribute } from "../dom.ts";
import { cancelPictures } from "../pictures.ts";
import { shownKey, shownName } from "../text.ts";
import { CellPainter, noText, numberIn } from "./row_cells.ts";
import type { PaneOptions } from "./pane.ts";
import { Scroller } from "./scroller.ts";
import type { Source } from "./source.ts";
import { entryHref } from "./tiles.ts";

/** A datapoint; `null` where another entry stands in its place. */
export type PlacedRow = Row | null;

/** A column. */
export type Column = RowsMessage["keys"][number];

/** Columns that are shown; the others are seen in the datapoint. */
const MOST_COLUMNS = 40;

/** Height of a line, in pixels. */
const ROW_HEIGHT = 76;

/** The longest of 64-bit numbers that is written out whole: `-1.2345678901234567e-300`. */
const MOST_DIGITS = 24;

/** Width of a cell of a column, in pixels. */
function widthOf({ kind, value }: Cell): number {
  if (kind === "image") return 104;
  const number = value && numberIn(value);
  if (number) {
    // A character of the style is 7.5 pixels wide; beside them are the padding and a line.
    return Math.max(108, 22 + 7.6 * Math.min(MOST_DIGITS, number.length));
  }
  switch (value?.kind) {
    case "array":
      return value.shape.length === 0 ? 108 : 136;
    case "tree": {
      const isShort = value.value === null || typeof value.value === "boolean";
      return isShort ? 108 : 232;
    }
    case "text":
      return 184;
  }
  return 112;
}

/** Draws datapoints. */
export class RowPainter {
  readonly #cells: CellPainter;
  #drawn = new WeakMap<HTMLElement, Row | undefined>();
  readonly #links = new WeakMap<HTMLElement, HTMLElement>();
  #columns: readonly Column[] = [];
  #template = "";

  readonly #list: (() => string) | undefined;

  /** @param list The address of the list that rows are of, where that is no directory: their names are paths. */
  constructor(signal: AbortSignal, list?: () => string) {
    this.#cells = new CellPainter(signal);
    this.#list = list;
  }

  /** Width of all columns, in pixels. */
  width = 0;

  /** Takes the columns, with rows that say how wide they are. */
  setColumns(columns: readonly Column[], rows: readonly Row[]): void {
    this.#columns = columns.slice(0, MOST_COLUMNS);
    this.#drawn = new WeakMap(); // by other columns
    const widest = new Map<string, number>();
    for (const cell of rows.flatMap(({ cells }) => cells)) {
      const width = Math.max(widest.get(cell.key) ?? 0, widthOf(cell));
      widest.set(cell.key, width);
    }
    const widths = [
      144,
      ...this.#columns.map(({ key }) => widest.get(key) ?? 112),
    ];
    this.width = widths.reduce((all, width) => all + width, 0);
    this.#template = widths.map((width) => `minmax(${width}px, ${width}fr)`)
      .join(" ");
  }

  /** The head of the table. */
  head(): HTMLElement {
    const head = element(
      "div",
      { class: "row head", role: "row", "aria-rowindex": 1 },
      element("span", { role: "columnheader" }, "Datapoint"),
      ...this.#columns.map(({ key, type }) =>
        element(
          "span",
          { role: "columnheader", title: `${key} (${type})` },
          element("b", {}, shownKey(key)),
          element("small", {}, type),
        )
      ),
    );
    head.style.gridTemplateColumns = this.#template;
    head.style.minWidth = `${this.width}px`;
    return head;
  }

  /** The link of a datapoint. */
  hrefOf({ entry }: Row, index: number): string {
    return entryHref(entry, index, this.#list?.());
  }

  /** Makes a line. */
  make(): HTMLElement {
    const link = element("a", { tabindex: -1, draggable: "false" });
    const line = element(
      "div",
      { class: "row", role: "row" },
      element("span", { role: "gridcell", class: "name" }, link),
    );
    this.#links.set(line, link);
    return line;
  }

  /** Draws a datapoint into a line. */
  draw(
    row: PlacedRow | undefined,
    index: number,
    line: HTMLElement,
    isPassing: boolean,
  ): void {
    const link = this.#links.get(line)!;
    const shown = isPassing ? undefined : row ?? undefined;
    link.textContent = row === undefined
      ? "…"
      : row === null
      ? "no datapoint"
      : shownName(this.#list === undefined ? row.entry.name : row.entry.path);
    setAttribute(link, "href", row ? this.hrefOf(row, index) : undefined);
    setAttribute(
      line,
      "data-state",
      row === undefined ? "loading" : row?.damage ? "damaged" : undefined,
    );
    if (line.style.gridTemplateColumns !== this.#template) {
      line.style.gridTemplateColumns = this.#template;
    }
    if (this.#drawn.get(line) === shown && line.childElementCount > 1) return;
    this.#drawn.set(line, shown);
    cancelPictures(line);
    while (line.childElementCount > 1) line.lastElementChild!.remove();
    if (shown === undefined) return;
    if (shown.damage !== null) {
      const problem = element("span", {
        class: "problem",
        role: "gridcell",
      }, shown.damage);
      problem.style.gridColumn = "2 / -1";
      line.append(problem);
      return;
    }
    const cells = cellsByKey(shown);
    for (const { key } of this.#columns) {
      const cell = cells.get(key);
      line.append(element(
        "span",
        { role: "gridcell", class: "value" },
        cell === undefined ? noText("–", "Missing") : this.#cells.draw(cell),
      ));
    }
  }
}

/**
 * Datapoints as lines with a column for each key.
 *
 * @param lead How many entries of the directory are before them.
 */
export function rowsPane(
  source: Source<PlacedRow>,
  painter: RowPainter,
  lead: number,
  { label, onScroll }: Pick<PaneOptions, "label" | "onScroll">,
  signal: AbortSignal,
): Scroller {
  const scroller = new Scroller({
    label,
    role: "grid",
    count: () => source.length,
    layout: () => ({ columns: 1, rowHeight: ROW_HEIGHT }),
    make: () => painter.make(),
    draw: (index, into, isPassing) =>
      painter.draw(source.at(index), index + lead, into, isPassing),
    onRange(first, end) {
      source.want(first, end);
      onScroll(first);
    },
    open(index) {
      const row = source.at(index);
      if (row) location.hash = painter.hrefOf(row, index + lead);
    },
  }, signal);
  scroller.element.classList.add("rows");
  showHead(scroller, painter);
  return scroller;
}

/** Shows the columns that a painter has now. */
export function showHead({ element }: Scroller, painter: RowPainter): void {
  element.querySelector(".head")?.remove();
  element.prepend(painter.head());
  const canvas = element.querySelector<HTMLElement>(".canvas")!;
  canvas.style.minWidth = `${painter.width}px`;
}

function cellsByKey({ cells }: Row): Map<string, Cell> {
  return new Map(cells.map((cell) => [cell.key, cell]));
}
