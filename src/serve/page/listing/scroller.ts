/** Many things below each other, or in columns, of which only those that are seen are in the page. */
import { element, setAttribute } from "../dom.ts";

/** How things are laid out. */
export interface Layout {
  readonly columns: number;
  /** In pixels. */
  readonly rowHeight: number;
}

/** What a scroller shows, and how. */
export interface ScrollerOptions {
  /** What it is, for who does not see it. */
  readonly label: string;
  /** `listbox` of options, or `grid` of rows. */
  readonly role: "listbox" | "grid";
  /** How many things there are. */
  count(): number;
  layout(width: number): Layout;
  /** Makes an element that things are drawn in, one after the other. */
  make(): HTMLElement;
  /**
   * Draws a thing.
   *
   * @param isPassing Whether it goes by too fast to be looked at: what takes time is left out.
   */
  draw(index: number, into: HTMLElement, isPassing: boolean): void;
  /** Told what is seen. */
  onRange(first: number, end: number): void;
  /** Opens the thing that is chosen. */
  open(index: number): void;
}

/** Browsers have no elements higher than 17 to 33 million pixels. */
const MOST_HEIGHT = 8_000_000;

/** How long after a fast move nothing more is left out. */
const REST_MS = 90;

/** Rows above and below those that are seen, as soon as those are there. */
const MARGIN_ROWS = 2;

/** Where each scroller's things get their ids from. */
let scrollers = 0;

/** A place that scrolls over any number of things. */
export class Scroller {
  readonly element: HTMLElement;
  readonly #options: ScrollerOptions;
  readonly #canvas = element("div", { class: "canvas", role: "presentation" });
  readonly #live = new Map<number, HTMLElement>();
  readonly #spare: HTMLElement[] = [];
  readonly #id = ++scrollers;
  readonly #resize: ResizeObserver;
  #layout: Layout = { columns: 1, rowHeight: 32 };
  /** Height that things are seen in, as it was measured: asking for it in between has the browser lay out all again. */
  #room = 0;
  /** How far down is looked, in pixels of the whole, which may be more than the element has. */
  #position = 0;
  #scrollTop = 0;
  #active = -1;
  #isPassing = false;
  #rest: ReturnType<typeof setTimeout> | undefined;
  #frame = 0;
  #margin = 0;
  #marginFrame = 0;

  constructor(options: ScrollerOptions, signal: AbortSignal) {
    this.#options = options;
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
      this.#canvas,
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

  /** The thing that the keyboard is at, or -1. */
  get active(): number {
    return this.#active;
  }

  /** The first thing that is seen whole. */
  get first(): number {
    const { columns, rowHeight } = this.#layout;
    return Math.ceil(this.#position / rowHeight - 0.01) * columns;
  }

  /** Draws again, since there are more things, or others. */
  update(): void {
    cancelAnimationFrame(this.#frame);
    this.#frame = requestAnimationFrame(() => {
      this.#setHeight();
      this.#render(true);
    });
  }

  /** Lays out again, since things have another size. */
  layOut(): void {
    const first = this.first;
    this.#layout = this.#options.layout(this.element.clientWidth);
    this.#measure();
    this.#setHeight();
    if (first > 0) this.show(first); // which has the browser lay out all at once
    cancelAnimationFrame(this.#frame);
    this.#render(true);
    if (this.#margin === 0) this.#widen();
  }

  /** Draws rows around those that are seen, when these are on the screen. */
  #widen(): void {
    cancelAnimationFrame(this.#marginFrame);
    this.#marginFrame = requestAnimationFrame(() => {
      this.#marginFrame = requestAnimationFrame(() => {
        this.#margin = MARGIN_ROWS;
        this.#render(false);
      });
    });
  }

  /** Scrolls to a thing, as the first one that is seen. */
  show(index: number): void {
    const { columns, rowHeight } = this.#layout;
    this.#moveTo(Math.floor(index / columns) * rowHeight);
  }

  /** Moves the keyboard to a thing, and scrolls where it is not seen. */
  activate(index: number): void {
    const count = this.#options.count();
    if (count === 0) return;
    this.#active = Math.max(0, Math.min(count - 1, index));
    const { columns, rowHeight } = this.#layout;
    const top = Math.floor(this.#active / columns) * rowHeight;
    const room = this.#room;
    if (top < this.#position) this.#moveTo(top);
    else if (top + rowHeight > this.#position + room) {
      this.#moveTo(top + rowHeight - room);
    }
    this.#render(true);
  }

  /** Handles a key. Returns whether it meant something here. */
  onKey(key: string): boolean {
    const { columns, rowHeight } = this.#layout;
    const page = Math.max(1, Math.floor(this.#room / rowHeight)) * columns;
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

  get #height(): number {
    const { columns, rowHeight } = this.#layout;
    return Math.ceil(this.#options.count() / columns) * rowHeight;
  }

  #setHeight(): void {
    const height = `${Math.min(MOST_HEIGHT, this.#height)}px`;
    if (this.#canvas.style.height !== height) {
      this.#canvas.style.height = height;
    }
  }

  /** How many pixels of the whole one of the element's stands for. */
  get #scale(): number {
    const [height, room] = [this.#height, this.#room];
    return height <= MOST_HEIGHT ? 1 : (height - room) / (MOST_HEIGHT - room);
  }

  #moveTo(position: number): void {
    this.#position = Math.max(0, Math.min(position, this.#height - this.#room));
    this.element.scrollTop = this.#position / this.#scale;
    this.#scrollTop = this.element.scrollTop;
    this.#render(false);
  }

  #onScroll(): void {
    const { scrollTop } = this.element;
    const delta = scrollTop - this.#scrollTop;
    this.#scrollTop = scrollTop;
    const scale = this.#scale;
    const room = this.#room;
    // Small moves go as far as the hand did; the scrollbar goes through all of it.
    this.#position = scale === 1 || Math.abs(delta) > room
      ? scrollTop * scale
      : this.#position + delta;
    this.#position = Math.max(0, Math.min(this.#position, this.#height - room));
    if (Math.abs(delta) * scale > room / 2) this.#pass();
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

  /** Puts the scrollbar where small moves have led to. */
  #settle(): void {
    const scale = this.#scale;
    if (scale === 1) return;
    const wanted = this.#position / scale;
    if (Math.abs(wanted - this.#scrollTop) > 1) this.#moveTo(this.#position);
  }

  #onResize(): void {
    const before = this.#layout;
    const layout = this.#options.layout(this.element.clientWidth);
    this.#measure();
    const isSame = layout.columns === before.columns &&
      layout.rowHeight === before.rowHeight;
    if (isSame) this.#render(false);
    else this.layOut();
  }

  #measure(): void {
    this.#room = this.element.clientHeight - this.#canvas.offsetTop;
  }

  #render(redraws: boolean): void {
    const { columns, rowHeight } = this.#layout;
    const count = this.#options.count();
    const firstRow = Math.floor(this.#position / rowHeight);
    const endRow = Math.ceil((this.#position + this.#room) / rowHeight);
    const first = Math.max(0, firstRow - this.#margin) * columns;
    const end = Math.min(count, (endRow + this.#margin) * columns);
    this.#options.onRange(
      Math.min(count, firstRow * columns),
      Math.min(count, endRow * columns),
    );
    for (const [index, live] of this.#live) {
      if (index >= first && index < end) continue;
      this.#live.delete(index);
      this.#spare.push(live);
    }
    const width = 100 / columns;
    for (let index = first; index < end; index++) {
      let live = this.#live.get(index);
      const isNew = live === undefined;
      if (live === undefined) {
        live = this.#spare.pop() ?? this.#options.make();
        if (!live.isConnected) this.#canvas.append(live);
        live.id = `thing-${this.#id}-${index}`;
        this.#live.set(index, live);
        live.style.width = `${width}%`;
        live.style.height = `${rowHeight}px`;
        live.style.display = "";
      }
      this.#place(live, index);
      if (isNew || redraws) this.#draw(index, live, count);
    }
    for (const spare of this.#spare) spare.style.display = "none";
    const isSeen = this.#live.has(this.#active);
    setAttribute(
      this.element,
      "aria-activedescendant",
      isSeen ? `thing-${this.#id}-${this.#active}` : undefined,
    );
  }

  #place(live: HTMLElement, index: number): void {
    const { columns, rowHeight } = this.#layout;
    const top = Math.floor(index / columns) * rowHeight;
    const y = Math.round(this.#scrollTop + top - this.#position);
    const transform = `translate(${index % columns * 100}%, ${y}px)`;
    if (live.style.transform !== transform) live.style.transform = transform;
    const width = `${100 / columns}%`;
    if (live.style.width !== width) live.style.width = width;
    const height = `${rowHeight}px`;
    if (live.style.height !== height) live.style.height = height;
  }

  #draw(index: number, live: HTMLElement, count: number): void {
    const isActive = index === this.#active;
    live.classList.toggle("active", isActive);
    setAttribute(live, "aria-selected", String(isActive));
    if (this.#options.role === "grid") {
      setAttribute(live, "aria-rowindex", index + 2);
      setAttribute(this.element, "aria-rowcount", count + 1);
    } else {
      setAttribute(live, "aria-posinset", index + 1);
      setAttribute(live, "aria-setsize", count);
    }
    this.#options.draw(index, live, this.#isPassing);
  }
}
