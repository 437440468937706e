/** The path of what is shown, as links; what there is no room for is in a menu in the middle. */
import { element, menu } from "./dom.ts";

/** A part of the path. */
export interface Crumb {
  readonly name: string;
  readonly href: string;
  /** What is said of it on hovering. */
  readonly title: string;
}

/** Pixels that a longer first part is not shortened below. */
const LEAST_FIRST = 72;

/** Pixels that the last part needs at least, and its share of the room. */
const LEAST_LAST = 120;
const LAST_SHARE = 0.45;

/** Links to a directory and those above it. */
export class Crumbs {
  readonly element: HTMLElement;
  readonly #list = element("ol");
  #items: readonly HTMLElement[] = [];
  readonly #between = element("li", { hidden: true });
  #hidden: HTMLElement | undefined;

  constructor() {
    this.element = element(
      "nav",
      { class: "crumbs", "aria-label": "Path" },
      this.#list,
    );
    new ResizeObserver(() => this.#fit()).observe(this.element);
  }

  /** Shows a path. */
  show(crumbs: readonly Crumb[]): void {
    const { button, content } = menu("…", "Directories between");
    this.#hidden = content;
    this.#between.replaceChildren(button, content);
    this.#items = crumbs.map((crumb, i) =>
      element(
        "li",
        {},
        link(crumb, i === crumbs.length - 1),
      )
    );
    this.#list.replaceChildren(...this.#items);
    this.#items[0]?.after(this.#between);
    this.#fit();
  }

  /** Hides parts in the middle, the highest first, until the others have room. */
  #fit(): void {
    const room = this.element.clientWidth;
    const items = this.#items;
    for (const item of [...items, this.#between]) item.hidden = false;
    this.#list.classList.add("measured");
    const widths = items.map((item) => item.offsetWidth);
    const between = this.#between.offsetWidth;
    this.#list.classList.remove("measured");
    const last = widths.length - 1;
    const least = Math.min(LEAST_FIRST, widths[0] ?? 0);
    items[0]?.style.setProperty("min-width", `${least}px`);
    const share = Math.max(LEAST_LAST, room * LAST_SHARE);
    widths[last] = Math.min(widths[last] ?? 0, share);
    let width = widths.reduce((all, each) => all + each, 0);
    let end = 1;
    if (width > room) {
      width += between;
      while (width > room && end < last) width -= widths[end++]!;
    }
    const hidden = items.slice(1, end);
    this.#between.hidden = hidden.length === 0;
    for (const item of hidden) item.hidden = true;
    this.#hidden?.replaceChildren(
      ...hidden.map((item) => item.firstElementChild!.cloneNode(true)),
    );
  }
}

function link({ name, href, title }: Crumb, isLast: boolean): HTMLElement {
  const current = isLast ? "page" : undefined;
  return element("a", { href, title, "aria-current": current }, name);
}
