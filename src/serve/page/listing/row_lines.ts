/** Datapoints as table rows, with one column per key. */
import type { Cell, Row } from "../../api/messages.ts";
import { element, setAttribute } from "../dom.ts";
import { cancelPictures } from "../pictures.ts";
import { hashOf, type Route } from "../route.ts";
import { shownName } from "../text.ts";
import { ColumnHead } from "./column_head.ts";
import { type Column, Columns } from "./columns.ts";
import { CellPainter, noText, numberIn } from "./row_cells.ts";
import type { PaneOptions } from "./pane.ts";
import { Scroller } from "./scroller.ts";
import type { Source } from "./source.ts";
import { entryHref } from "./tiles.ts";

/** Datapoint; `null` for another entry. */
export type PlacedRow = Row | null;

/** Row height assumed before measuring, in pixels. */
const ROW_HEIGHT = 76;

/** Longest 64-bit float written in full: `-1.2345678901234567e-300`. */
const MOST_DIGITS = 24;

/** Texts with more characters get a wide column. */
const LONG_TEXT = 60;

/** Returns a cell's natural width, in pixels. */
function widthOf({ kind, value }: Cell): number {
  if (kind === "image") return 104;
  const number = value && numberIn(value);
  if (number) {
    // A character is 7.5 pixels wide in this style; padding and a border are added.
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
      return value.text.length > LONG_TEXT ? 320 : 184;
  }
  return 112;
}

export class RowPainter {
  readonly #cells: CellPainter;
  #drawn = new WeakMap<HTMLElement, Row | undefined>();
  readonly #links = new WeakMap<HTMLElement, HTMLElement>();
  /** URLs of the values shown as text. */
  readonly #texts = new WeakMap<Element, string>();
  readonly #columns: Columns;
  #shown: readonly Column[] = [];
  #head: ColumnHead | undefined;

  readonly #unit: string;
  readonly #list: (() => string) | undefined;

  /**
   * @param route Route of the view.
   * @param unit Singular of what the rows are.
   * @param list Returns the address of the list, if it is not a directory: names are then full paths.
   */
  constructor(
    route: Route,
    signal: AbortSignal,
    unit: string,
    list?: () => string,
  ) {
    this.#unit = unit;
    this.#cells = new CellPainter(signal);
    this.#list = list;
    this.#columns = new Columns(route, (isWidth) => this.onColumns(isWidth));
  }

  /** Called after columns were chosen, with whether it was a width. */
  onColumns: (isWidth: boolean) => void = () => {};

  get width(): number {
    return this.#columns.width;
  }

  get template(): string {
    return this.#columns.template;
  }

  /** Sets the columns, with sample rows to determine their widths. */
  setColumns(columns: readonly Column[], rows: readonly Row[]): void {
    const widest = new Map<string, number>();
    const numeric = new Set<string>();
    const others = new Set<string>();
    for (const cell of rows.flatMap(({ cells }) => cells)) {
      const { key, value } = cell;
      widest.set(key, Math.max(widest.get(key) ?? 0, widthOf(cell)));
      const isNull = value?.kind === "tree" && value.value === null;
      const isNumber = value && numberIn(value) !== undefined;
      if (!isNull) (isNumber ? numeric : others).add(key);
    }
    this.#columns.set(
      columns,
      widest,
      new Set([...numeric].filter((key) => !others.has(key))),
    );
    this.showColumns();
  }

  /** Redraws the head; lines must be redrawn, too. */
  showColumns(): void {
    this.#shown = this.#columns.shown;
    this.#drawn = new WeakMap();
    this.#head?.draw();
  }

  head(): HTMLElement {
    this.#head ??= new ColumnHead(this.#columns, this.#unit);
    return this.#head.element;
  }

  hrefOf({ entry }: Row, index: number): string {
    return entryHref(entry, index, this.#list?.());
  }

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
      ? `no ${this.#unit}`
      : shownName(this.#list === undefined ? row.entry.name : row.entry.path);
    setAttribute(link, "href", row ? this.hrefOf(row, index) : undefined);
    setAttribute(
      line,
      "data-state",
      row === undefined ? "loading" : row?.damage ? "damaged" : undefined,
    );
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
    for (const { key } of this.#shown) {
      const cell = cells.get(key);
      const value = cell === undefined
        ? noText("–", "Missing")
        : this.#cells.draw(cell);
      const isText = cell?.value?.kind === "text" ||
        cell?.value?.kind === "tree";
      if (isText) this.#texts.set(value as Element, cell.url);
      line.append(
        element("span", { role: "gridcell", class: "value" }, value),
      );
    }
  }

  /** Measures lines, except those not loaded yet. Truncated texts get a link to the full value. */
  measure(lines: readonly HTMLElement[]): number[] {
    const texts = lines.flatMap((
      line,
    ) => [...line.querySelectorAll(".value > :is(.words, .tree)")]);
    const areCut = texts.map((text) =>
      text.scrollHeight > text.clientHeight + 1 ||
      text.classList.contains("part")
    );
    texts.forEach((text, i) => {
      text.nextSibling?.remove();
      if (areCut[i]) {
        const href = hashOf(this.#texts.get(text)!);
        text.after(
          element("a", { class: "more", tabindex: -1, href }, "more"),
        );
      }
    });
    return lines.map((line) =>
      this.#drawn.get(line) === undefined ? 0 : line.offsetHeight
    );
  }
}

export interface RowsOptions extends Pick<PaneOptions, "label" | "onScroll"> {
  /** Called after columns were chosen and stored in the address. */
  onColumns?(): void;
}

/** Creates a pane of lines with one column per key. `lead` directory entries precede the first datapoint. */
export function rowsPane(
  source: Source<PlacedRow>,
  painter: RowPainter,
  lead: number,
  { label, onScroll, onColumns }: RowsOptions,
  signal: AbortSignal,
): Scroller {
  const scroller = new Scroller({
    label,
    role: "grid",
    count: () => source.length,
    layout: () => ({ columns: 1, rowHeight: ROW_HEIGHT }),
    make: () => painter.make(),
    measure: (lines) => painter.measure(lines),
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
  painter.onColumns = (isWidth) => {
    if (!isWidth) painter.showColumns();
    showHead(scroller, painter);
    scroller.refit();
    onColumns?.();
  };
  return scroller;
}

export function showHead({ element }: Scroller, painter: RowPainter): void {
  const head = painter.head();
  // Not moved if already there: its menu may be open.
  if (head.parentElement !== element) element.prepend(head);
  element.style.setProperty("--columns", painter.template);
  element.style.setProperty("--columns-width", `${painter.width}px`);
}

function cellsByKey({ cells }: Row): Map<string, Cell> {
  return new Map(cells.map((cell) => [cell.key, cell]));
}
