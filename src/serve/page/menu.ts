/** Menus that a button opens above everything else: the browser closes them by a click elsewhere and by Escape. */
import { type Child, element } from "./dom.ts";

/** Pixels between a menu, its button and the window's edges. */
const GAP = 6;

/** A button, and what it opens. Both have to be in the document. */
export interface Menu {
  readonly button: HTMLButtonElement;
  readonly content: HTMLElement;
}

/** Makes a menu. */
export function menu(
  text: string,
  label: string,
  ...children: readonly Child[]
): Menu {
  const content = element(
    "div",
    { class: "menu", popover: "auto", role: "group", "aria-label": label },
    ...children,
  );
  const button = element("button", {
    type: "button",
    class: "button",
    title: label,
    "aria-label": label,
  }, text);
  button.popoverTargetElement = content;
  content.addEventListener("toggle", () => placeBelow(content, button));
  return { button, content };
}

/** Whether a menu is open, which keys belong to then. */
export function isMenuOpen(): boolean {
  return document.querySelector(":popover-open") !== null;
}

function placeBelow(content: HTMLElement, button: HTMLElement): void {
  const { left, bottom } = button.getBoundingClientRect();
  const most = document.documentElement.clientWidth - content.offsetWidth - GAP;
  const { style } = content;
  style.left = `${Math.max(GAP, Math.min(left, most))}px`;
  style.top = `${bottom + GAP}px`;
  style.maxHeight = `calc(100dvh - ${bottom + 2 * GAP}px)`;
}
