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

  /** Shows a step. Of a `total` that is not known nothing is shown but that it goes on. */
  show(done: number, total: number | null, said: string): void {
    setAttribute(
      this.#bar,
      "max",
      total === null ? undefined : Math.max(1, total),
    );
    setAttribute(this.#bar, "value", total === null ? undefined : done);
    this.#said.textContent = said;
  }

  /** Shows that it has ended. */
  end(said: string): void {
    this.#bar.hidden = true;
    this.#cancel.hidden = true;
    this.#said.textContent = said;
  }
}
