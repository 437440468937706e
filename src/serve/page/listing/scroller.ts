/** Virtual scroller for lists and grids: only visible items are in the DOM. */
import { element, setAttribute } from "../dom.ts";
import { Heights } from "./heights.ts";
import { LiveRows } from "./live_rows.ts";
import { elementHeight, positionOf, scrollTopOf } from "./scrollbar.ts";

export interface Layout {
  readonly columns: number;
  /** In pixels; an estimate if rows are measured. */
  readonly rowHeight: number;
}

export interface ScrollerOptions {
  /** Accessible name. */
  readonly label: string;
  /** `listbox` of options, or `grid` of rows. */
  readonly role: "listbox" | "grid";
  count(): number;
  layout(width: number): Layout;
  /** Creates an element, which is reused for different items. */
  make(): HTMLElement;
  /** Draws an item. `isPassing` if it scrolls by too fast to be read: slow parts are skipped. */
  draw(index: number, into: HTMLElement, isPassing: boolean): void;
  /** Measures drawn elements, if rows have individual heights. Returns the heights in pixels; 0 if not known yet. */
  measure?(drawn: readonly HTMLElement[]): readonly number[];
  onRange(first: number, end: number): void;
  open(index: number): void;
}

/** Delay after a fast move until items are drawn in full. */
const REST_MS = 90;

/** Rows drawn above and below the visible ones, once these are shown. */
const MARGIN_ROWS = 2;

/** Maximum number of layout passes, repeated if measured heights differ. */
const MOST_TURNS = 8;

export class Scroller {
  readonly element: HTMLElement;
  readonly #options: ScrollerOptions;
  readonly #live: LiveRows;
  readonly #resize: ResizeObserver;
  #layout: Layout = { columns: 1, rowHeight: 32 };
  /** Height of the viewport, cached: reading it forces a layout. */
  #room = 0;
  #heights = new Heights(32);
  /** First visible row, and its top relative to the viewport: 0 or negative. */
  #row = 0;
  #y = 0;
  #scrollTop = 0;
  #isScrolling = false;
  #width = 0;
  #active = -1;
  #isPassing = false;
  #rest: ReturnType<typeof setTimeout> | undefined;
  #frame = 0;
  #margin = 0;
  #marginFrame = 0;

  constructor(options: ScrollerOptions, signal: AbortSignal) {
    this.#options = options;
    this.#live = new LiveRows(options);
    this.element = element(
      "div",
      {
        class: "scroller",
        tabindex: 0,
        role: options.role,
        "aria-label": options.label,
        scroll: () => this.#onScroll(),
        scrollend: () => this.#settle(),
      },
      this.#live.canvas,
    );
    this.#resize = new ResizeObserver(() => this.#onResize());
    this.#resize.observe(this.element);
    signal.addEventListener("abort", () => {
      this.#resize.disconnect();
      clearTimeout(this.#rest);
      cancelAnimationFrame(this.#frame);
      cancelAnimationFrame(this.#marginFrame);
    });
  }

  get active(): number {
    return this.#active;
  }

  /** Index of the first fully visible item. */
  get first(): number {
    const isCut = this.#y < -0.01 * this.#heights.of(this.#row);
    return (isCut ? this.#row + 1 : this.#row) * this.#layout.columns;
  }

  /** Redraws after items were added or changed. */
  update(): void {
    cancelAnimationFrame(this.#frame);
    this.#frame = requestAnimationFrame(() => {
      const wasSeen = this.#isWhole(this.#activeRow);
      this.#setHeight();
      this.#render(true);
      if (this.#isScrolling) return;
      // New items may be higher than estimated.
      if (wasSeen && !this.#isWhole(this.#activeRow)) {
        this.activate(this.#active);
      }
      this.#settle();
    });
  }

  /** Redoes the layout after the size of items has changed. */
  layOut(): void {
    const first = this.first;
    this.#layout = this.#options.layout(this.element.clientWidth);
    this.#forgetHeights(this.#layout.rowHeight);
    this.#measure();
    this.#setHeight();
    if (first > 0) this.show(first); // forces a layout
    cancelAnimationFrame(this.#frame);
    this.#render(true);
    if (this.#margin === 0) this.#widen();
  }

  refit(): void {
    this.#forgetHeights(this.#heights.mean);
    this.#render(true);
    this.#settle();
  }

  #forgetHeights(usual: number): void {
    this.#heights = new Heights(usual);
    this.#live.setLayout(this.#layout.columns, this.#heights);
  }

  /** Draws rows around the visible ones after these have been painted. */
  #widen(): void {
    cancelAnimationFrame(this.#marginFrame);
    this.#marginFrame = requestAnimationFrame(() => {
      this.#marginFrame = requestAnimationFrame(() => {
        this.#margin = MARGIN_ROWS;
        this.#render(false);
      });
    });
  }

  show(index: number): void {
    this.#moveTo(Math.floor(index / this.#layout.columns), 0);
  }

  activate(index: number): void {
    const count = this.#options.count();
    if (count === 0) return;
    this.#active = Math.max(0, Math.min(count - 1, index));
    const row = Math.floor(this.#active / this.#layout.columns);
    const top = this.#live.tops.get(row);
    const isAbove = top === undefined ? row < this.#row : top < 0;
    if (isAbove) this.#moveTo(row, 0);
    else if (
      top === undefined || top + this.#heights.of(row) > this.#room
    ) {
      if (top === undefined) this.#moveTo(row, 0); // measures it
      this.#moveTo(row, Math.max(0, this.#room - this.#heights.of(row)));
    }
    this.#render(true);
  }

  onKey(key: string): boolean {
    const { columns } = this.#layout;
    const page = Math.max(1, this.#wholeRows()) * columns;
    const steps: Record<string, number> = {
      ArrowDown: columns,
      ArrowUp: -columns,
      PageDown: page,
      PageUp: -page,
      Home: -Infinity,
      End: Infinity,
      ...(columns > 1 ? { ArrowRight: 1, ArrowLeft: -1 } : {}),
    };
    if (key === "Enter" && this.#active >= 0) {
      this.#options.open(this.#active);
      return true;
    }
    const step = steps[key];
    if (step === undefined) return false;
    const from = this.#active < 0 ? this.first - Math.sign(step) : this.#active;
    const isStep = this.#active >= 0 || Math.abs(step) > columns;
    this.activate(isStep ? this.#active + step : from + Math.sign(step));
    return true;
  }

  #wholeRows(): number {
    return [...this.#live.tops.keys()].filter((row) => this.#isWhole(row))
      .length;
  }

  get #activeRow(): number {
    return Math.floor(this.#active / this.#layout.columns);
  }

  #isWhole(row: number): boolean {
    const top = this.#live.tops.get(row) ?? -1;
    return top >= 0 && top + this.#heights.of(row) <= this.#room;
  }

  get #rows(): number {
    return Math.ceil(this.#options.count() / this.#layout.columns);
  }

  get #height(): number {
    return this.#heights.top(this.#rows);
  }

  #setHeight(): void {
    const height = `${elementHeight(this.#height)}px`;
    if (this.#live.canvas.style.height !== height) {
      this.#live.canvas.style.height = height;
    }
  }

  get #wantedTop(): number {
    const position = this.#heights.top(this.#row) - this.#y;
    return scrollTopOf(position, this.#height, this.#room);
  }

  #moveTo(row: number, y: number): void {
    [this.#row, this.#y] = [row, y];
    this.#render(false);
    this.#setHeight();
    this.#putScrollbar();
  }

  /** Synchronizes the scrollbar with the visible rows. */
  #putScrollbar(): void {
    this.element.scrollTop = this.#wantedTop;
    this.#scrollTop = this.element.scrollTop;
    this.#live.place(this.#scrollTop);
  }

  #onScroll(): void {
    const { scrollTop } = this.element;
    const delta = scrollTop - this.#scrollTop;
    if (delta === 0) return;
    this.#isScrolling = true;
    this.#scrollTop = scrollTop;
    const room = this.#room;
    // Small moves are applied exactly; large ones map to the whole list.
    if (Math.abs(delta) > room) {
      const position = positionOf(scrollTop, this.#height, room);
      const { row, offset } = this.#heights.at(position, this.#rows);
      [this.#row, this.#y] = [row, -offset];
    } else this.#y -= delta;
    if (Math.abs(delta) > room / 2) this.#pass();
    this.#render(false);
  }

  #pass(): void {
    this.#isPassing = true;
    clearTimeout(this.#rest);
    this.#rest = setTimeout(() => {
      this.#isPassing = false;
      this.#render(true);
    }, REST_MS);
  }

  /** Corrects the scrollbar after small moves. */
  #settle(): void {
    this.#isScrolling = false;
    this.#setHeight();
    const isOff = Math.abs(this.#wantedTop - this.#scrollTop) > 1;
    if (isOff) this.#putScrollbar();
  }

  #onResize(): void {
    const before = this.#layout;
    const width = this.#width;
    const wasSeen = this.#isWhole(this.#activeRow);
    const layout = this.#options.layout(this.element.clientWidth);
    this.#measure();
    const isSame = layout.columns === before.columns &&
      layout.rowHeight === before.rowHeight;
    if (!isSame) this.layOut();
    else if (this.#options.measure && width !== this.#width) this.refit();
    else this.#render(false);
    // The focused item stays visible if the viewport shrinks, such as below a banner.
    if (wasSeen && !this.#isWhole(this.#activeRow)) this.activate(this.#active);
  }

  #measure(): void {
    this.#width = this.element.clientWidth;
    this.#room = this.element.clientHeight - this.#live.canvas.offsetTop;
  }

  #render(redraws: boolean): void {
    const { columns } = this.#layout;
    const count = this.#options.count();
    const rows = this.#rows;
    const room = this.#room;
    const live = this.#live;
    const turn = {
      ...{ redraws, isPassing: this.#isPassing, active: this.#active },
      drawn: new Set<number>(),
    };
    let end = 0;
    this.#row = Math.max(0, Math.min(this.#row, rows - 1));
    // Each measurement may bring further rows into view, if a row is much lower than estimated.
    for (let turns = 0; turns < MOST_TURNS; turns++) {
      while (this.#y > 0 && this.#row > 0) {
        live.draw(this.#row - 1, this.#row, turn);
        this.#y -= this.#heights.of(--this.#row);
      }
      if (this.#row === 0) this.#y = Math.min(0, this.#y);
      while (
        this.#row < rows - 1 && this.#y + this.#heights.of(this.#row) <= 0
      ) this.#y += this.#heights.of(this.#row++);
      let bottom = this.#y;
      for (end = this.#row; end < rows && bottom < room; end++) {
        bottom += this.#heights.of(end);
      }
      const from = Math.max(0, this.#row - this.#margin);
      const to = Math.min(rows, end + this.#margin);
      live.keep(from, to);
      const isMeasured = !live.draw(from, to, turn);
      const isShort = bottom < room && (this.#row > 0 || this.#y < 0);
      if (isShort && isMeasured) this.#y += room - bottom;
      else if (isMeasured) break;
    }
    this.#options.onRange(
      Math.min(count, this.#row * columns),
      Math.min(count, end * columns),
    );
    live.keep(this.#row - this.#margin, end + this.#margin);
    live.arrange(this.#row, this.#y, this.#scrollTop);
    if (this.#options.role === "grid") {
      setAttribute(this.element, "aria-rowcount", count + 1);
    }
    setAttribute(
      this.element,
      "aria-activedescendant",
      live.idOf(this.#active),
    );
  }
}
