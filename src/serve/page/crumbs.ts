/** Breadcrumbs: the path as links. Parts without room are in a menu in the middle. */
import { element, menu } from "./dom.ts";

export interface Crumb {
  readonly name: string;
  readonly href: string;
  readonly title: string;
}

/** Minimum width of the first part, in pixels, unless it is shorter. */
const LEAST_FIRST = 72;

/** Minimum width of the last part, in pixels, and its maximum share of the room. */
const LEAST_LAST = 120;
const LAST_SHARE = 0.45;

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

  /** Hides parts in the middle, from the top of the path, until the others fit. */
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
