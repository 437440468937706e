/** Entries from anywhere below a directory: what a glob finds, and random samples. */
import type { Entry, RandomMessage, SearchLine } from "../../api/messages.ts";
import { get, isAbort, lines, messageOf } from "../api.ts";
import { button, Choice, element, problemLine } from "../dom.ts";
import { goTo, keepInAddress, type Route } from "../route.ts";
import { count, counted, shownName } from "../text.ts";
import type { Scene, View } from "../view.ts";
import { emptyNote, entriesPane } from "./pane.ts";
import type { Scroller } from "./scroller.ts";
import { ArraySource } from "./source.ts";

/** How many random samples are drawn, unless the address says otherwise. */
const SAMPLES = 48;

/** Entries that come one by one, and a line that says how far that is. */
class Results {
  readonly source = new ArraySource<Entry>();
  readonly said = element("p", { class: "said", role: "status" });
  readonly place = element("div", { class: "place" });
  readonly choice: Choice<"grid" | "table">;
  readonly #label: string;
  readonly #signal: AbortSignal;
  #mode: "grid" | "table";
  #scroller: Scroller | undefined;

  constructor(
    label: string,
    route: Route,
    best: "grid" | "table",
    signal: AbortSignal,
  ) {
    this.#label = label;
    this.#signal = signal;
    const asked = route.parameters.get("view");
    this.#mode = asked === "grid" || asked === "table" ? asked : best;
    this.choice = new Choice(
      "View",
      [["grid", "Grid"], ["table", "Table"]],
      this.#mode,
      (mode) => {
        this.#mode = mode;
        keepInAddress({ view: mode });
        this.show();
        this.onShown();
      },
    );
  }

  show(): void {
    this.#scroller = entriesPane(this.source, this.#mode, {
      label: this.#label,
      nameOf: (entry) => shownName(entry.path),
      isDirectory: false,
      onScroll() {},
    }, this.#signal);
    this.place.replaceChildren(this.#scroller.element);
  }

  onShown(): void {
    this.#scroller?.element.focus({ preventScroll: true }); // while there is little to lay out
    this.#scroller?.layOut();
  }

  add(entry: Entry): void {
    this.source.items.push(entry);
    this.#scroller?.update();
  }

  onKey(key: string): boolean {
    return this.#scroller?.onKey(key) ?? false;
  }
}

/** Shows what a glob finds below a directory, as it is found. */
export function searchView(route: Route, { signal }: Scene): View {
  const glob = route.parameters.get("glob") ?? "";
  const results = new Results(`Found by ${glob}`, route, "table", signal);
  const controller = new AbortController();
  const either = AbortSignal.any([signal, controller.signal]);
  const cancel = button("Cancel", () => controller.abort());
  const run = async () => {
    let looked = 0;
    const say = (how: string) => {
      results.said.textContent = `${
        counted(results.source.length, "entry", "entries")
      } found${how}`;
    };
    try {
      say(" …");
      const query = { path: route.url, glob };
      for await (const line of lines<SearchLine>("search", query, either)) {
        if ("entry" in line) {
          results.add(line.entry);
          continue;
        }
        looked = line.looked;
        if (!("isComplete" in line)) {
          say(`, ${count(looked)} looked at …`);
          continue;
        }
        const { isCut, damaged } = line;
        const left = damaged === 0
          ? ""
          : `, and ${counted(damaged, "directory", "directories")} damaged`;
        say((isCut ? ": there are more" : ` among ${count(looked)}`) + left);
      }
      if (results.source.length === 0) {
        results.place.replaceChildren(
          emptyNote(`Nothing is called ${shownName(glob)} here.`),
        );
      }
    } catch (error) {
      if (signal.aborted) return;
      if (isAbort(error)) say(`, cancelled after ${count(looked)}`);
      else results.place.replaceChildren(problemLine(messageOf(error)));
    } finally {
      results.source.isGrowing = false;
      cancel.remove();
    }
  };
  results.show();
  void run();
  return {
    element: element(
      "section",
      { class: "listing" },
      element(
        "div",
        { class: "bar" },
        element("h2", {}, `Search: ${shownName(glob)}`),
        results.said,
        cancel,
        results.choice.element,
      ),
      results.place,
    ),
    title: `Search: ${glob}`,
    keys: [],
    onKey: (key) => results.onKey(key),
    onShown: () => results.onShown(),
  };
}

/** Shows random samples below a directory: the same for the same seed. */
export async function randomView(
  route: Route,
  { signal }: Scene,
): Promise<View> {
  const seed = Math.max(
    0,
    Math.trunc(Number(route.parameters.get("seed"))) || 0,
  );
  const asked = Math.trunc(Number(route.parameters.get("count"))) || SAMPLES;
  const query = { path: route.url, count: asked, seed };
  const answer = await get<RandomMessage>("random", query, signal);
  // What was asked for may be no seed.
  if (route.parameters.has("seed")) keepInAddress({ seed });
  const isSeen = answer.entries.some(({ thumbnailUrl }) =>
    thumbnailUrl !== null
  );
  const results = new Results(
    "Random samples",
    route,
    isSeen ? "grid" : "table",
    signal,
  );
  results.source.items.push(...answer.entries);
  results.source.isGrowing = false;
  results.said.textContent = `${count(answer.entries.length)} of ${
    count(answer.total)
  }`;
  const draw = () => goTo(route.url, { show: "random", seed: seed + 1 });
  const field = element("input", {
    type: "number",
    min: 0,
    value: seed,
    "aria-label": "Seed",
    change: () =>
      goTo(route.url, { show: "random", seed: field.valueAsNumber || 0 }),
  });
  results.show();
  return {
    element: element(
      "section",
      { class: "listing" },
      element(
        "div",
        { class: "bar" },
        element("h2", {}, "Random samples"),
        results.said,
        element("label", { class: "seed" }, "Seed ", field),
        button("Draw again", draw, { title: "Draw again (r)" }),
        results.choice.element,
      ),
      results.place,
    ),
    title: "Random samples",
    keys: [{ key: "r", says: "Draw again", run: draw }],
    onKey: (key) => results.onKey(key),
    onShown: () => results.onShown(),
  };
}
