/// <reference lib="dom" />
/**
 * Elements, made without markup: what comes from a dataset is only ever text.
 */

/** What an element holds; `null` is left out. */
export type Child = Node | string | null;

/** Attributes by name, and listeners under the name of their event. */
export type Attributes = Readonly<
  Record<
    string,
    string | number | boolean | undefined | ((event: Event) => void)
  >
>;

/** Makes an element. An attribute that is `true` is there, one that is `false` or `undefined` is not. */
export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  fill(made, attributes, children);
  return made;
}

/** Makes an element of a drawing. */
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

/** Sets an attribute where it is not what it is to be. */
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

/** A line that says that something went wrong. */
export function problemLine(message: string): HTMLElement {
  return element("p", { class: "problem", role: "alert" }, message);
}

const styles = new Map<string, Promise<void>>();

/** Loads a style sheet that the first view does without, once. */
export function loadStyle(name: string): Promise<void> {
  let loading = styles.get(name);
  if (loading === undefined) {
    loading = new Promise((resolve) => {
      const link = element("link", {
        rel: "stylesheet",
        href: `page/style/${name}.css`,
        load: () => resolve(),
        error: () => resolve(), // what is shown is there without it
      });
      document.head.append(link);
    });
    styles.set(name, loading);
  }
  return loading;
}

/** A button with a text, and a longer one for who hovers. */
export function button(
  text: string,
  onClick: () => void,
  attributes: Attributes = {},
): HTMLButtonElement {
  const all = { type: "button", class: "button", click: onClick };
  return element("button", { ...all, ...attributes }, text);
}

/** Buttons of which one is pressed. */
export class Choice<T extends string> {
  /** Holds the buttons. */
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

  /** Shows one as pressed. */
  choose(chosen: T): void {
    for (const [choice, made] of this.#buttons) {
      setAttribute(made, "aria-pressed", String(choice === chosen));
    }
  }
}
