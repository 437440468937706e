/** Dialog of keyboard shortcuts. */
import { button, element } from "./dom.ts";
import { type Key, shownKey } from "./keyboard.ts";

const MOVING: readonly (readonly [string, string])[] = [
  ["← ↑ ↓ →", "Move among entries"],
  ["home end", "First, last entry"],
  ["page ↑ ↓", "A screen up, down"],
  ["enter", "Open the entry"],
];

export function showHelp(
  everywhere: readonly Key[],
  here: readonly Key[],
): void {
  const list = (title: string, keys: readonly (readonly [string, string])[]) =>
    element(
      "section",
      {},
      element("h3", {}, title),
      element(
        "dl",
        { class: "keys" },
        ...keys.flatMap(([key, says]) => [
          element("dt", {}, element("kbd", {}, key)),
          element("dd", {}, says),
        ]),
      ),
    );
  const named = (keys: readonly Key[]) =>
    keys.map((key) => [shownKey(key), key.says] as const);
  const dialog = element(
    "dialog",
    { class: "help", "aria-label": "Keys", close: () => dialog.remove() },
    element(
      "div",
      { class: "bar" },
      element("h2", {}, "Keys"),
      button("Close", () => dialog.close()),
    ),
    element(
      "div",
      { class: "columns" },
      list("Everywhere", named(everywhere)),
      here.length === 0 ? null : list("Here", named(here)),
      list("In listings", MOVING),
    ),
  );
  // Clicks outside the window target the dialog itself.
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close();
  });
  document.body.append(dialog);
  dialog.showModal();
}
