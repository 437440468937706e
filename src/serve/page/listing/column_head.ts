/** Table head: column names, edges to drag, and a menu of columns. */
import { button, element, menu, setAttribute } from "../dom.ts";
import { capitalized, count, shownKey } from "../text.ts";
import {
  type Columns,
  idOf,
  LEAST_WIDTH,
  MOST_WIDTH,
  NAME_ID,
} from "./columns.ts";

/** Pixels that an arrow key moves an edge by. */
const STEP = 16;

const MOST_LISTED = 400;

export class ColumnHead {
  readonly element: HTMLElement;
  readonly #columns: Columns;
  readonly #list = element("ul", { class: "columns" });
  readonly #note = element("p", { class: "note" });

  /** @param unit Singular of what the rows are. */
  constructor(columns: Columns, unit: string) {
    const title = capitalized(unit);
    this.#columns = columns;
    const { button: opener, content } = menu(
      "⋮",
      "Columns",
      this.#list,
      this.#note,
      button("Reset", () => columns.reset(), {
        title: "Shows all columns, in their order, as wide as suits them",
      }),
    );
    content.addEventListener("beforetoggle", () => this.#drawList());
    this.element = element(
      "div",
      { class: "row head", role: "row", "aria-rowindex": 1 },
      element(
        "span",
        { role: "columnheader", class: "of-names" },
        title,
        opener,
        content,
        this.#edge(NAME_ID, title),
      ),
    );
    this.draw();
  }

  draw(): void {
    const head = this.element;
    while (head.childElementCount > 1) head.lastElementChild!.remove();
    for (const { key, type } of this.#columns.shown) {
      head.append(element(
        "span",
        {
          role: "columnheader",
          title: `${key} (${type})`,
          class: this.#columns.isNumeric(key) ? "numeric" : undefined,
        },
        element("b", {}, shownKey(key)),
        element("small", {}, type),
        this.#edge(idOf(key), shownKey(key)),
      ));
    }
    this.#drawList();
  }

  #edge(id: string, name: string): HTMLElement {
    const columns = this.#columns;
    const resize = (width: number | undefined) => {
      columns.resize(id, width);
      setAttribute(edge, "aria-valuenow", columns.widthOf(id));
    };
    /** Actual width, which may include a share of the remaining room. */
    const shownWidth = () => edge.parentElement!.offsetWidth;
    let from: readonly [x: number, width: number] | undefined;
    const edge = element("span", {
      class: "edge",
      role: "separator",
      tabindex: 0,
      "aria-orientation": "vertical",
      "aria-label": `Width of ${name}`,
      "aria-valuemin": LEAST_WIDTH,
      "aria-valuemax": MOST_WIDTH,
      "aria-valuenow": columns.widthOf(id),
      title: "Drag to change the width; double-click for the one that suits",
      dblclick: () => resize(undefined),
    });
    edge.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      from = [event.clientX, shownWidth()];
      edge.setPointerCapture(event.pointerId);
    });
    edge.addEventListener("pointermove", (event) => {
      if (from !== undefined) resize(from[1] + event.clientX - from[0]);
    });
    for (const end of ["pointerup", "pointercancel"]) {
      edge.addEventListener(end, () => from = undefined);
    }
    edge.addEventListener("keydown", (event) => {
      const steps: Record<string, number> = {
        ArrowLeft: -STEP,
        ArrowRight: STEP,
      };
      const step = steps[event.key];
      if (step !== undefined) resize(shownWidth() + step);
      else if (event.key === "Enter") resize(undefined);
      else return;
      // Otherwise arrows would move in the list.
      event.preventDefault();
      event.stopPropagation();
    });
    return edge;
  }

  #drawList(): void {
    const columns = this.#columns;
    const { all, omitted } = columns;
    const listed = all.slice(0, MOST_LISTED);
    const focused = document.activeElement?.getAttribute("data-column");
    this.#list.replaceChildren(...listed.map(({ key }, at) => {
      const id = idOf(key);
      const name = shownKey(key);
      const move = (by: -1 | 1, text: string, says: string) =>
        button(text, () => columns.move(id, by), {
          "aria-label": `Move ${name} ${says}`,
          title: `Move ${says}`,
          disabled: at + by < 0 || at + by >= all.length,
          "data-column": `${by} ${id}`,
        });
      return element(
        "li",
        {},
        element(
          "label",
          { title: key },
          element("input", {
            type: "checkbox",
            checked: columns.isShown(id),
            change: () => columns.toggle(id),
            "data-column": `0 ${id}`,
          }),
          name,
        ),
        move(-1, "↑", "to the left"),
        move(1, "↓", "to the right"),
      );
    }));
    const unlisted = all.length - listed.length;
    this.#note.textContent = [
      omitted > 0 ? `${count(omitted)} are not shown: there are too many.` : "",
      unlisted > 0 ? `${count(unlisted)} are not listed here.` : "",
    ].join(" ").trim();
    this.#note.hidden = this.#note.textContent === "";
    if (focused) this.#focus(focused);
  }

  /** Restores the keyboard focus after a redraw; at an end, moves it to the button for the other direction. */
  #focus(column: string): void {
    const same = this.#list.querySelectorAll<HTMLElement>("[data-column]");
    for (
      const each of [
        column,
        column.replace(/^(-?)1/, (_, sign) => sign ? "1" : "-1"),
      ]
    ) {
      for (const control of same) {
        if (control.dataset.column !== each || control.matches(":disabled")) {
          continue;
        }
        return control.focus();
      }
    }
  }
}
