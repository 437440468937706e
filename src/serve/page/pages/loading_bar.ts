/** Progress bar with a cancel button. */
import { button, element, setAttribute } from "../dom.ts";

export class LoadingBar {
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

  /** Updates the progress; the bar is indeterminate unless `done` is within `total`, which may be too low. */
  show(done: number, total: number | null, said: string): void {
    const isPart = total !== null && total > 0 && done >= 0 && done <= total;
    setAttribute(this.#bar, "max", isPart ? total : undefined);
    setAttribute(this.#bar, "value", isPart ? done : undefined);
    this.#said.textContent = said;
  }

  /** Shows the end, or hides itself if the text is empty. */
  end(said: string): void {
    this.element.hidden = said === "";
    this.#bar.hidden = true;
    this.#cancel.hidden = true;
    this.#said.textContent = said;
  }
}
