/** Rows of a scroller that are in the DOM: draws, measures and positions them. */
import { element, setAttribute } from "../dom.ts";
import { Heights } from "./heights.ts";
import type { ScrollerOptions } from "./scroller.ts";

let scrollers = 0;

export interface DrawingTurn {
  readonly redraws: boolean;
  /** Whether rows scroll by too fast to be read. */
  readonly isPassing: boolean;
  readonly active: number;
  readonly drawn: Set<number>;
}

export class LiveRows {
  readonly canvas = element("div", { class: "canvas", role: "presentation" });
  /** Tops of rows, in pixels relative to the top of the viewport. */
  readonly tops = new Map<number, number>();
  readonly #options: ScrollerOptions;
  readonly #live = new Map<number, HTMLElement>();
  readonly #spare: HTMLElement[] = [];
  readonly #id = ++scrollers;
  #columns = 1;
  #heights = new Heights(32);

  constructor(options: ScrollerOptions) {
    this.#options = options;
  }

  /** Sets the number of items per row, and the row heights, which are updated by measuring. */
  setLayout(columns: number, heights: Heights): void {
    this.#columns = columns;
    this.#heights = heights;
  }

  idOf(index: number): string | undefined {
    return this.#live.get(index)?.id;
  }

  /** Removes all other rows; their elements are reused. */
  keep(from: number, to: number): void {
    const end = Math.min(this.#options.count(), to * this.#columns);
    for (const [index, live] of this.#live) {
      if (index >= from * this.#columns && index < end) continue;
      this.#live.delete(index);
      this.#spare.push(live);
    }
  }

  /** Adds the missing rows and measures them. Returns whether a height has changed. */
  draw(from: number, to: number, turn: DrawingTurn): boolean {
    const count = this.#options.count();
    const fresh: (readonly [index: number, live: HTMLElement])[] = [];
    const end = Math.min(count, to * this.#columns);
    for (let index = from * this.#columns; index < end; index++) {
      let live = this.#live.get(index);
      if (live !== undefined && (!turn.redraws || turn.drawn.has(index))) {
        continue;
      }
      if (live === undefined) {
        live = this.#spare.pop() ?? this.#options.make();
        if (!live.isConnected) this.canvas.append(live);
        live.id = `thing-${this.#id}-${index}`;
        live.style.display = "";
        this.#live.set(index, live);
      }
      turn.drawn.add(index);
      if (this.#options.measure) live.style.height = "";
      this.#draw(index, live, count, turn);
      fresh.push([index, live]);
    }
    const { measure } = this.#options;
    if (measure === undefined || turn.isPassing) return false;
    const heights = measure(fresh.map(([, live]) => live));
    let isOther = false;
    fresh.forEach(([row], i) => {
      const height = heights[i]!;
      if (height === 0) return;
      isOther ||= this.#heights.of(row) !== height;
      this.#heights.set(row, height);
    });
    return isOther;
  }

  /** Positions the rows around one whose top is at `y`. */
  arrange(row: number, y: number, scrollTop: number): void {
    this.tops.clear();
    const rows = [...this.#live.keys()].map((index) =>
      Math.floor(index / this.#columns)
    );
    const [first, last] = [Math.min(...rows), Math.max(...rows)];
    for (let at = row, top = y; at <= last; at++) {
      this.tops.set(at, top);
      top += this.#heights.of(at);
    }
    for (let at = row - 1, top = y; at >= first; at--) {
      top -= this.#heights.of(at);
      this.tops.set(at, top);
    }
    this.place(scrollTop);
    for (const spare of this.#spare) spare.style.display = "none";
  }

  /** Keeps rows in place on the screen after the canvas has been scrolled. */
  place(scrollTop: number): void {
    const columns = this.#columns;
    for (const [index, { style }] of this.#live) {
      const row = Math.floor(index / columns);
      const y = Math.round(scrollTop + this.tops.get(row)!);
      const transform = `translate(${index % columns * 100}%, ${y}px)`;
      if (style.transform !== transform) style.transform = transform;
      const width = `${100 / columns}%`;
      if (style.width !== width) style.width = width;
      const isOwn = this.#options.measure && this.#heights.has(row);
      const height = isOwn ? "" : `${this.#heights.of(row)}px`;
      if (style.height !== height) style.height = height;
    }
  }

  #draw(
    index: number,
    live: HTMLElement,
    count: number,
    { active, isPassing }: DrawingTurn,
  ): void {
    const { role, draw } = this.#options;
    const isActive = index === active;
    live.classList.toggle("active", isActive);
    setAttribute(live, "aria-selected", String(isActive));
    if (role === "grid") {
      setAttribute(live, "aria-rowindex", index + 2);
    } else {
      setAttribute(live, "aria-posinset", index + 1);
      setAttribute(live, "aria-setsize", count);
    }
    draw(index, live, isPassing);
  }
}
