/** Views of entries from anywhere below a directory: search results and random samples. */
import { isAbort, problemOf } from "../api.ts";
import { button, Choice, element } from "../dom.ts";
import { addressOf, goTo, keepInAddress, type Route } from "../route.ts";
import { count, counted, shownName, unitOf } from "../text.ts";
import type { Scene, View } from "../view.ts";
import { EntryRows } from "./entry_rows.ts";
import { emptyNote, entriesPane, loadRowLines, type Mode } from "./pane.ts";
import { type ResultList, resultList, seedIn } from "./result_list.ts";
import type { RowPainter } from "./row_lines.ts";
import type { Scroller } from "./scroller.ts";

/** Views; rows only if there are datapoints. */
const MODES: readonly (readonly [Mode, string])[] = [
  ["grid", "Grid"],
  ["table", "Table"],
  ["rows", "Rows"],
];

class Results {
  readonly said = element("p", { class: "said", role: "status" });
  readonly place = element("div", { class: "place" });
  readonly ways = element("span");
  readonly #list: ResultList;
  readonly #label: string;
  readonly #route: Route;
  readonly #signal: AbortSignal;
  readonly #unit: string;
  readonly #rows: EntryRows;
  readonly #asked: Mode | undefined;
  #mode: Mode;
  #hasRows = false;
  #painter: RowPainter | undefined;
  #scroller: Scroller | undefined;
  #latest = 0;

  constructor(
    label: string,
    list: ResultList,
    route: Route,
    best: "grid" | "table",
    { signal, info }: Scene,
  ) {
    this.#unit = unitOf(info.samples);
    this.#label = label;
    this.#route = route;
    this.#list = list;
    this.#signal = signal;
    const asked = route.parameters.get("view");
    this.#asked = MODES.find(([mode]) => mode === asked)?.[0];
    this.#mode = this.#asked === "rows" ? best : this.#asked ?? best;
    this.#rows = new EntryRows(
      list.source,
      (hasNewKeys) => this.#onRow(hasNewKeys),
      signal,
    );
    this.#choose();
    list.watch(() => this.#onChange(), signal);
  }

  async show(): Promise<void> {
    const turn = ++this.#latest;
    const list = () => addressOf(this.#route);
    const options = {
      label: this.#label,
      nameOf: ({ path }: { readonly path: string }) => shownName(path),
      list,
      onScroll() {},
    };
    if (this.#mode === "rows") {
      const { RowPainter, rowsPane } = await loadRowLines();
      if (turn !== this.#latest || this.#signal.aborted) return;
      this.#painter ??= new RowPainter(
        this.#route,
        this.#signal,
        this.#unit,
        list,
      );
      this.#painter.setColumns(this.#rows.keys, this.#rows.rows);
      this.#scroller = rowsPane(
        this.#rows,
        this.#painter,
        0,
        options,
        this.#signal,
      );
    } else {
      this.#scroller = entriesPane(
        this.#list.source,
        this.#mode,
        options,
        this.#signal,
      );
    }
    this.place.replaceChildren(this.#scroller.element);
    if (this.place.isConnected) this.onShown();
  }

  onShown(): void {
    this.#scroller?.element.focus({ preventScroll: true }); // before the layout, while it is cheap
    this.#scroller?.layOut();
    if (this.#list.opened >= 0) this.#scroller?.activate(this.#list.opened);
  }

  onKey(key: string): boolean {
    return this.#scroller?.onKey(key) ?? false;
  }

  /** Creates the view of the list, with `bar` above it. */
  view(
    title: string,
    bar: readonly (HTMLElement | null)[],
    keys: View["keys"] = [],
  ): View {
    return {
      element: element(
        "section",
        { class: "listing" },
        element("div", { class: "bar" }, ...bar),
        this.place,
      ),
      title,
      keys,
      onBack: () => this.#list.error === undefined,
      onKey: (key) => this.onKey(key),
      onShown: () => this.onShown(),
    };
  }

  #onChange(): void {
    this.#choose();
    this.#scroller?.update();
  }

  #choose(): void {
    const hasRows = this.#hasRows ||
      this.#list.source.items.some(({ kind }) => kind === "datapoint");
    if (this.ways.hasChildNodes() && hasRows === this.#hasRows) return;
    this.#hasRows = hasRows;
    const isAsked = hasRows && this.#asked === "rows";
    if (isAsked) this.#mode = "rows";
    const choice = new Choice(
      "View",
      MODES.filter(([mode]) => hasRows || mode !== "rows"),
      this.#mode,
      (mode) => {
        this.#mode = mode;
        keepInAddress(this.#route, { view: mode });
        void this.show();
      },
    );
    this.ways.replaceChildren(choice.element);
    if (isAsked && this.#scroller !== undefined) void this.show();
  }

  async #onRow(hasNewKeys: boolean): Promise<void> {
    const [painter, scroller] = [this.#painter, this.#scroller];
    if (this.#mode !== "rows" || !painter || !scroller) return;
    if (hasNewKeys) {
      const { showHead } = await import("./row_lines.ts");
      painter.setColumns(this.#rows.keys, this.#rows.rows);
      showHead(scroller, painter);
      scroller.layOut();
    }
    scroller.update();
  }
}

export function searchView(route: Route, scene: Scene): View {
  const { signal } = scene;
  const glob = route.parameters.get("glob") ?? "";
  const list = resultList(route);
  const results = new Results(
    `Found by ${glob}`,
    list,
    route,
    "table",
    scene,
  );
  const cancel = button("Cancel", () => list.cancel());
  const say = () => {
    const { length, isGrowing } = list.source;
    const found = `${counted(length, "entry", "entries")} found`;
    results.said.textContent = found + searchedText(list);
    if (isGrowing) return;
    cancel.remove();
    if (list.error !== undefined) {
      results.place.replaceChildren(problemOf(list.error));
    } else if (length === 0 && !list.isCancelled) {
      results.place.replaceChildren(
        emptyNote(`Nothing is called ${shownName(glob)} here.`),
      );
    }
  };
  void results.show();
  list.watch(say, signal);
  say();
  return results.view(`Search: ${glob}`, [
    element("h2", { title: shownName(glob) }, `Search: ${shownName(glob)}`),
    results.said,
    list.source.isGrowing ? cancel : null,
    results.ways,
  ]);
}

function searchedText(
  { end, isCancelled, looked, source }: ResultList,
): string {
  if (isCancelled) return `, cancelled after ${count(looked)}`;
  if (end === undefined) {
    if (!source.isGrowing) return "";
    return looked === 0 ? " …" : `, ${count(looked)} looked at …`;
  }
  const { isCut, damaged } = end;
  const left = damaged === 0
    ? ""
    : `, and ${counted(damaged, "directory", "directories")} damaged`;
  return (isCut ? ": there are more" : ` among ${count(looked)}`) + left;
}

/** Creates the view of random samples: the same for the same seed. */
export async function randomView(
  route: Route,
  scene: Scene,
): Promise<View> {
  const { signal } = scene;
  const seed = seedIn(route);
  const list = resultList(route);
  await list.entryAt(0);
  signal.throwIfAborted();
  if (list.error !== undefined && !isAbort(list.error)) throw list.error;
  // The address may contain an invalid seed.
  if (route.parameters.has("seed")) keepInAddress(route, { seed });
  const { items } = list.source;
  const isSeen = items.some(({ thumbnailUrl }) => thumbnailUrl !== null);
  const results = new Results(
    "Random samples",
    list,
    route,
    isSeen ? "grid" : "table",
    scene,
  );
  results.said.textContent = `${count(items.length)} of ${count(list.total)}`;
  const draw = () => goTo(route.url, { show: "random", seed: seed + 1 });
  const field = element("input", {
    type: "number",
    min: 0,
    value: seed,
    "aria-label": "Seed",
    change: () =>
      goTo(route.url, { show: "random", seed: field.valueAsNumber || 0 }),
  });
  await results.show();
  return results.view("Random samples", [
    element("h2", {}, "Random samples"),
    results.said,
    element("label", { class: "seed" }, "Seed ", field),
    button("Draw again", draw, { title: "Draw again (r)" }),
    results.ways,
  ], [{ key: "r", says: "Draw again", run: draw }]);
}
