/** Header: path, search, jump, and links to the pages. */
import type { InfoMessage } from "../api/messages.ts";
import { Crumbs } from "./crumbs.ts";
import { element } from "./dom.ts";
import { icon } from "./icons.ts";
import { decodedPart, goTo, hashOf, type Route } from "./route.ts";
import { count, shownName, unitOf } from "./text.ts";

export interface HeaderActions {
  /** Navigates to a sample index or path. */
  jump(to: string): void;
  help(): void;
}

const PAGES = [
  ["random", "Random", "Random samples (r)"],
  ["statistics", "Statistics", "Statistics (s)"],
  ["check", "Check", "Check of all checksums (c)"],
  ["info", "Info", "About the container (i)"],
] as const;

/** Returns a short name of what is served: the last part of its location, or the number of containers. */
export function containerName({ name, sources }: InfoMessage): string {
  if (sources.length > 1) return `${count(sources.length)} containers`;
  return shownName(/[^/\\]+(?=[/\\]*$)/.exec(name)?.[0] ?? name);
}

export class Header {
  readonly element: HTMLElement;
  readonly search: HTMLInputElement;
  readonly jump: HTMLInputElement;
  readonly #crumbs = new Crumbs();
  readonly #links: readonly (readonly [string, HTMLAnchorElement])[];
  readonly #name: string;
  readonly #whole: string;
  #url = "";

  constructor(info: InfoMessage, actions: HeaderActions) {
    const { name, samples } = info;
    this.#name = containerName(info);
    this.#whole = shownName(name);
    this.search = element("input", {
      type: "search",
      placeholder: "Search: *.jpg",
      "aria-label": "Search by glob",
      autocomplete: "off",
      spellcheck: "false",
      title:
        "A glob, compared with names, or with paths where it has a slash (/)",
    });
    const unit = unitOf(samples, "entry");
    this.jump = element("input", {
      type: "text",
      placeholder: samples === null || samples.length === 0
        ? "Go to index or path"
        : `Go to ${unit} 0–${count(samples.length - 1)}`,
      "aria-label": "Go to index or path",
      autocomplete: "off",
      spellcheck: "false",
      title: "A number, or a path (g)",
    });
    const jump = form(this.jump, "jump", () => {
      const to = this.jump.value.trim();
      if (to !== "") actions.jump(to);
      this.jump.select();
    });
    jump.style.setProperty("--letters", `${this.jump.placeholder.length}`);
    this.#links = PAGES.map(([page, text, title]) => [
      page,
      element("a", { class: "button", title }, text),
    ]);
    this.element = element(
      "header",
      { class: "top" },
      this.#crumbs.element,
      form(this.search, "search", () => {
        const glob = this.search.value.trim();
        if (glob !== "") goTo(this.#url, { show: "search", glob });
      }),
      jump,
      element(
        "nav",
        { class: "pages", "aria-label": "Pages" },
        ...this.#links.map(([, link]) => link),
        element("button", {
          type: "button",
          class: "button help",
          title: "Keys (?)",
          "aria-label": "Keys",
          click: () => actions.help(),
        }, "?"),
      ),
    );
  }

  /** Shows the current location. Searches and pages are for the directory at `directoryUrl`. */
  show({ url, parameters }: Route, directoryUrl: string): void {
    this.#url = directoryUrl;
    const parts = url === "" ? [] : url.split("/");
    const crumbs = parts.map((part, i) => {
      const name = shownName(decodedPart(part));
      const href = hashOf(parts.slice(0, i + 1).join("/"));
      return { name, href, title: name };
    });
    const all = { name: this.#name, href: "#/", title: this.#whole };
    this.#crumbs.show([all, ...crumbs]);
    const shown = parameters.get("show");
    for (const [page, link] of this.#links) {
      const isOfAll = page === "check" || page === "info";
      link.href = hashOf(isOfAll ? "" : directoryUrl, { show: page });
      link.classList.toggle("current", page === shown);
    }
    this.jump.value = "";
    this.search.value = shown === "search" ? parameters.get("glob") ?? "" : "";
  }
}

function form(
  input: HTMLInputElement,
  name: "search" | "jump",
  onSubmit: () => void,
): HTMLElement {
  return element(
    "form",
    {
      class: name,
      role: "search",
      "aria-label": name === "search" ? "Search" : "Go to",
      submit: (event) => {
        event.preventDefault();
        onSubmit();
        input.blur();
      },
    },
    icon(name === "search" ? "search" : "forward"),
    input,
  );
}
