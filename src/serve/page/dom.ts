/// <reference lib="dom" />
/** DOM helpers. Elements are created without markup: data from a dataset is only ever text. */

/** Child of an element; `null` is skipped. */
export type Child = Node | string | null;

/** Attributes by name; event listeners by event name. */
export type Attributes = Readonly<
  Record<
    string,
    string | number | boolean | undefined | ((event: Event) => void)
  >
>;

/** Creates an element. `true` sets an attribute without a value; `false` and `undefined` omit it. */
export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  fill(made, attributes, children);
  return made;
}

export function svg<K extends keyof SVGElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: readonly Child[]
): SVGElementTagNameMap[K] {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  fill(made, attributes, children);
  return made;
}

function fill(
  made: Element,
  attributes: Attributes,
  children: readonly Child[],
): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") made.addEventListener(name, value);
    else setAttribute(made, name, value);
  }
  for (const child of children) if (child !== null) made.append(child);
}

/** Sets an attribute, unless it has the value already. */
export function setAttribute(
  of: Element,
  name: string,
  value: string | number | boolean | undefined,
): void {
  const wanted = value === undefined || value === false
    ? null
    : value === true
    ? ""
    : String(value);
  if (of.getAttribute(name) === wanted) return;
  if (wanted === null) of.removeAttribute(name);
  else of.setAttribute(name, wanted);
}

export function problemLine(message: string): HTMLElement {
  return element("p", { class: "problem", role: "alert" }, message);
}

const styles = new Map<string, Promise<void>>();

/** Loads a style sheet that the first view does not need, once. */
export function loadStyle(name: string): Promise<void> {
  let loading = styles.get(name);
  if (loading === undefined) {
    loading = new Promise((resolve) => {
      const link = element("link", {
        rel: "stylesheet",
        href: `page/style/${name}.css`,
        load: () => resolve(),
        error: () => resolve(), // content shows without it
      });
      document.head.append(link);
    });
    styles.set(name, loading);
  }
  return loading;
}

export function button(
  text: string,
  onClick: () => void,
  attributes: Attributes = {},
): HTMLButtonElement {
  const all = { type: "button", class: "button", click: onClick };
  return element("button", { ...all, ...attributes }, text);
}

export class Choice<T extends string> {
  readonly element: HTMLElement;
  readonly #buttons: readonly (readonly [T, HTMLButtonElement])[];

  constructor(
    label: string,
    choices: readonly (readonly [T, string])[],
    chosen: T,
    onChoose: (choice: T) => void,
  ) {
    this.#buttons = choices.map(([choice, text]) => [
      choice,
      button(text, () => {
        this.choose(choice);
        onChoose(choice);
      }),
    ]);
    this.element = element(
      "div",
      { class: "choice", role: "group", "aria-label": label },
      ...this.#buttons.map(([, made]) => made),
    );
    this.choose(chosen);
  }

  choose(chosen: T): void {
    for (const [choice, made] of this.#buttons) {
      setAttribute(made, "aria-pressed", String(choice === chosen));
    }
  }
}

/** Gap in pixels between a menu, its button and the window's edges. */
const MENU_GAP = 6;

/** Button and the menu that it opens. Both must be in the document. */
export interface Menu {
  readonly button: HTMLButtonElement;
  readonly content: HTMLElement;
}

/** Creates a popover menu. The browser closes it on Escape or a click elsewhere. */
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
  const opener = element("button", {
    type: "button",
    class: "button",
    title: label,
    "aria-label": label,
  }, text);
  opener.popoverTargetElement = content;
  content.addEventListener("toggle", () => placeBelow(content, opener));
  return { button: opener, content };
}

/** Whether a menu is open and receives key presses. */
export function isMenuOpen(): boolean {
  return document.querySelector(":popover-open") !== null;
}

function placeBelow(content: HTMLElement, button: HTMLElement): void {
  const { left, bottom } = button.getBoundingClientRect();
  const most = document.documentElement.clientWidth - content.offsetWidth -
    MENU_GAP;
  const { style } = content;
  style.left = `${Math.max(MENU_GAP, Math.min(left, most))}px`;
  style.top = `${bottom + MENU_GAP}px`;
  style.maxHeight = `calc(100dvh - ${bottom + 2 * MENU_GAP}px)`;
}
