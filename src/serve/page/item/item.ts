/** An entry by itself: what it holds, what is known of it, and the way to its neighbours. */
import type { Entry, EntryMessage, ListMessage } from "../../api/messages.ts";
import { fileUrl, get } from "../api.ts";
import { button, element } from "../dom.ts";
import { icon } from "../icons.ts";
import type { Key } from "../keyboard.ts";
import { KIND_NAMES } from "../listing/tiles.ts";
import {
  hashOf,
  hashToCloseTo,
  keepInAddress,
  rememberOpened,
  type Route,
} from "../route.ts";
import { bytes, count, shownName, time, unitOf } from "../text.ts";
import type { Scene, View } from "../view.ts";
import { ClipPlayer } from "./clip.ts";
import { datapointView } from "./datapoint.ts";
import { treeView } from "./tree.ts";
import { type As, fileSection, partsOf } from "./value.ts";

/** Shows an entry. */
export function itemView(
  route: Route,
  message: EntryMessage,
  { signal, info }: Scene,
): View {
  const { entry, view } = message;
  const neighbours = new Neighbours(route, message, signal);
  const keys: Key[] = [...neighbours.keys];
  let content: HTMLElement;
  if (view?.kind === "clip") {
    const frame = Math.trunc(Number(route.parameters.get("frame"))) || 0;
    const player = new ClipPlayer(entry, view, Math.max(0, frame), signal);
    content = player.element;
    keys.push(...player.keys);
  } else if (view?.kind === "datapoint") {
    content = datapointView(view, signal);
  } else {
    const as = route.parameters.get("as");
    content = fileSection(
      entry,
      as === "text" || as === "bytes" ? as : undefined,
      signal,
      (chosen: As | undefined) => keepInAddress({ as: chosen ?? null }),
    );
    if (
      entry.kind === "image" || entry.kind === "video" || entry.kind === "audio"
    ) {
      content.classList.add("media");
    }
  }
  const meta = view?.kind === "clip" && view.meta !== null
    ? element(
      "section",
      { "aria-label": "Labels" },
      element("h3", {}, "Labels"),
      treeView(
        view.meta,
        view.metaUrl === null ? undefined : partsOf(view.metaUrl, signal),
      ),
    )
    : null;
  const unit = info.samples === null ? "sample" : unitOf(info.samples);
  return {
    element: element(
      "article",
      { class: "item", "aria-label": shownName(entry.name) },
      element(
        "div",
        { class: "bar" },
        icon(entry.kind),
        element("h2", {}, shownName(entry.name)),
        neighbours.element,
      ),
      element(
        "div",
        { class: "sides" },
        element("div", { class: "content", tabindex: -1 }, content),
        element(
          "aside",
          { "aria-label": "Facts" },
          facts(message, unit),
          links(entry),
          meta,
        ),
      ),
    ),
    title: shownName(entry.name),
    keys,
  };
}

function facts(
  { entry, sample }: EntryMessage,
  unit: string,
): HTMLElement {
  const pairs: (readonly [string, string])[] = [
    ["Kind", KIND_NAMES[entry.kind]],
    ...(entry.isDirectory ? [] : [["Size", sizeText(entry)] as const]),
    ...(sample === null ? [] : [[numberOf(unit), count(sample)] as const]),
    ["Path", shownName(entry.path)],
    ["Changed", time(entry.mtime)],
  ];
  return element(
    "dl",
    { class: "facts" },
    ...pairs.flatMap(([name, text]) => [
      element("dt", {}, name),
      element("dd", {}, text),
    ]),
  );
}

/** `Video number` */
function numberOf(unit: string): string {
  return `${unit[0]!.toUpperCase()}${unit.slice(1)} number`;
}

function sizeText({ size }: Entry): string {
  if (size === null) return "unknown: the container is damaged here";
  return size < 1000 ? bytes(size) : `${bytes(size)} (${count(size)} bytes)`;
}

function links(entry: Entry): HTMLElement {
  return element(
    "p",
    { class: "links" },
    entry.isDirectory
      ? element(
        "a",
        { class: "button", href: hashOf(entry.url, { view: "table" }) },
        "Show as files",
      )
      : element(
        "a",
        { class: "button", href: fileUrl(entry.url), download: entry.name },
        "Download",
      ),
  );
}

/** The entries before and behind one, in the directory that it is in. */
class Neighbours {
  readonly element: HTMLElement;
  readonly keys: readonly Key[];
  readonly #parentUrl: string;
  readonly #where = element("span", { class: "where" });
  readonly #buttons: readonly [HTMLButtonElement, HTMLButtonElement];
  #index: number | null = null;
  #urls: readonly [string | null, string | null] = [null, null];
  /** Where a key led before it was known what lies there. */
  #asked: 0 | 1 | undefined;

  constructor(route: Route, message: EntryMessage, signal: AbortSignal) {
    this.#parentUrl = message.parentUrl;
    const step = (drawn: "back" | "forward", says: string, by: 0 | 1) => {
      const made = button("", () => this.#go(by), {
        "aria-label": says,
        title: says,
        disabled: true,
      });
      made.append(icon(drawn));
      return made;
    };
    this.#buttons = [
      step("back", "Previous (←)", 0),
      step("forward", "Next (→)", 1),
    ];
    this.element = element(
      "nav",
      { class: "neighbours", "aria-label": "Neighbours" },
      this.#where,
      ...this.#buttons,
      button("Close", () => this.#close(), { title: "Close (esc)" }),
    );
    this.keys = [
      { key: "ArrowLeft", says: "Previous entry", run: () => this.#go(0) },
      { key: "ArrowRight", says: "Next entry", run: () => this.#go(1) },
      {
        key: "Escape",
        says: "Back to where it was opened",
        run: () => this.#close(),
      },
    ];
    const given = route.parameters.get("at");
    const at = message.index ?? (given === null ? NaN : Number(given));
    if (Number.isSafeInteger(at) && at >= 0) {
      rememberOpened(this.#parentUrl, at); // it may be closed before the answer is here
      this.#find(message.entry.url, at, signal).catch(() => {}); // there are none then
    }
  }

  async #find(url: string, at: number, signal: AbortSignal): Promise<void> {
    const first = Math.max(0, at - 1);
    const query = { path: this.#parentUrl, at: first, limit: 3 };
    const { entries, total } = await get<ListMessage>("list", query, signal);
    const place = entries.findIndex((entry) => entry.url === url);
    if (place < 0) return; // the address was made for another order
    this.#index = first + place;
    this.#urls = [
      entries[place - 1]?.url ?? null,
      entries[place + 1]?.url ?? null,
    ];
    this.#where.textContent = `${count(this.#index + 1)}${
      total === null ? "" : ` of ${count(total)}`
    }`;
    this.#buttons.forEach((made, by) =>
      made.disabled = this.#urls[by] === null
    );
    rememberOpened(this.#parentUrl, this.#index);
    if (this.#asked !== undefined) this.#go(this.#asked);
  }

  #go(by: 0 | 1): void {
    if (this.#index === null) {
      this.#asked = by;
      return;
    }
    const url = this.#urls[by];
    if (url === null) return;
    // Going through neighbours is one step of the browser's history.
    location.replace(hashOf(url, { at: this.#index + 2 * by - 1 }));
  }

  #close(): void {
    location.hash = hashToCloseTo(this.#parentUrl);
  }
}
