/** Navigation from an entry to the previous and next one, by keys and buttons. */
import type { EntryMessage } from "../../api/messages.ts";
import { button, element } from "../dom.ts";
import { prefetchEntry } from "../entries_ahead.ts";
import { icon } from "../icons.ts";
import type { Key } from "../keyboard.ts";
import {
  hashToCloseTo,
  listOf,
  parseRoute,
  rememberOpened,
  type Route,
} from "../route.ts";
import { type Sequence, sequenceOf } from "./sequence.ts";

/** Maximum number of directories skipped to find an entry. */
const MOST_PASSED = 200;

/** State of keyboard navigation, shared by successive views: keys count while an earlier target is still loading. */
const walk = {
  key: "",
  url: "",
  index: -1,
  wanted: -1,
  /** Key presses before the entry's sequence was known. */
  early: 0,
};

export class Neighbours {
  readonly element: HTMLElement;
  readonly keys: readonly Key[];
  readonly #route: Route;
  readonly #parentUrl: string;
  readonly #where = element("span", { class: "where" });
  readonly #buttons: readonly HTMLButtonElement[];
  #sequence: Sequence | undefined;

  constructor(route: Route, message: EntryMessage, signal: AbortSignal) {
    this.#route = route;
    this.#parentUrl = message.parentUrl;
    const step = (drawn: "back" | "forward", says: string, by: number) => {
      const made = button("", () => this.#go(by), {
        "aria-label": says,
        title: says,
        disabled: true,
      });
      made.append(icon(drawn));
      return made;
    };
    this.#buttons = [
      step("back", "Previous (←)", -1),
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
      { key: "ArrowLeft", says: "Previous entry", run: () => this.#go(-1) },
      { key: "ArrowRight", says: "Next entry", run: () => this.#go(1) },
      {
        key: "Escape",
        says: "Back to where it was opened",
        run: () => this.#close(),
      },
    ];
    if (walk.url !== message.entry.url) walk.early = 0;
    // The view may be closed before the response is here.
    if (message.index !== null) rememberOpened(this.#parentUrl, message.index);
    this.#find(message, signal).catch(() => {}); // no neighbours then
  }

  async #find(message: EntryMessage, signal: AbortSignal): Promise<void> {
    const sequence = await sequenceOf(this.#route, message);
    const isLeft = signal.aborted ||
      parseRoute(location.hash).url !== this.#route.url;
    if (sequence === undefined || isLeft) return;
    this.#sequence = sequence;
    const { key, index, first } = sequence;
    const { url } = message.entry;
    const isWalked = walk.key === key && walk.url === url &&
      walk.index === index;
    if (!isWalked) Object.assign(walk, { key, url, index, wanted: index });
    this.#where.textContent = sequence.where();
    const [back, forward] = this.#buttons;
    back!.disabled = index <= first;
    forward!.disabled = index >= sequence.last();
    const { early } = walk;
    walk.early = 0;
    if (early !== 0) this.#go(early);
    for (const at of [index + 1, index - 1]) {
      if (at < first || at > sequence.last()) continue;
      const entry = await sequence.entryAt(at);
      if (signal.aborted) return;
      if (entry !== undefined && entry.kind !== "directory") {
        prefetchEntry(entry);
      } else if (entry === undefined && at > index) forward!.disabled = true;
    }
    this.#where.textContent = sequence.where();
  }

  #go(by: number): void {
    const sequence = this.#sequence;
    if (sequence === undefined || walk.key !== sequence.key) {
      walk.early += by;
      return;
    }
    const wanted = Math.min(walk.wanted + by, sequence.last());
    walk.wanted = Math.max(sequence.first, wanted);
    this.#follow(sequence, walk.wanted, Math.sign(by)).catch(() => {
      walk.wanted = walk.index; // stays where it is
    });
  }

  /** Navigates to an index, skipping directories. A later key press supersedes it. */
  async #follow(
    sequence: Sequence,
    wanted: number,
    by: number,
  ): Promise<void> {
    const isLatest = () =>
      walk.key === sequence.key && walk.wanted === wanted &&
      parseRoute(location.hash).url === walk.url;
    for (let at = wanted, passed = 0; at !== walk.index; at += by) {
      const entry = await sequence.entryAt(at);
      if (!isLatest()) return;
      if (entry === undefined || ++passed > MOST_PASSED) break;
      if (entry.kind === "directory") continue;
      Object.assign(walk, { url: entry.url, index: at, wanted: at });
      // Neighbours share one entry of the browser's history.
      return location.replace(sequence.hrefOf(entry, at));
    }
    // The list ends earlier: go to its last entry.
    walk.wanted = walk.index;
    const last = sequence.last();
    if (wanted > last && last > walk.index) {
      walk.wanted = last;
      await this.#follow(sequence, last, -1);
    }
  }

  #close(): void {
    walk.early = 0;
    location.hash = hashToCloseTo(this.#parentUrl, listOf(this.#route));
  }
}
