/** How far something is that takes long, and a button that ends it. */
import { button, element, setAttribute } from "../dom.ts";

/** Shows how far something is. */
export class Progress {
  readonly element: HTMLElement;
  readonly #bar: HTMLProgressElement;
  readonly #said = element("span", { role: "status" });
  readonly #cancel: HTMLButtonElement;

  constructor(label: string, onCancel: () => void) {
    this.#bar = element("progress", { "aria-label": label });
    this.#said.textContent = `${label} …`;
    this.#cancel = button("Cancel", onCancel);
    this.element = element(
      "div",
      { class: "progress" },
      this.#bar,
      this.#said,
      this.#cancel,
    );
  }

  /**
   * Shows a step. The bar says only that it goes on while there is no `total` that `done` is a part of: files that
   * grow, and wrong numbers of a server, may have more done than there was to do.
   */
  show(done: number, total: number | null, said: string): void {
    const isPart = total !== null && total > 0 && done >= 0 && done <= total;
    setAttribute(this.#bar, "max", isPart ? total : undefined);
    setAttribute(this.#bar, "value", isPart ? done : undefined);
    this.#said.textContent = said;
  }

  /** Shows that it has ended, or hides itself if nothing is said. */
  end(said: string): void {
    this.element.hidden = said === "";
    this.#bar.hidden = true;
    this.#cancel.hidden = true;
    this.#said.textContent = said;
  }
}
