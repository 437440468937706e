/** View of a directory: as tiles, as lines, or its datapoints as table rows. */
import type {
  Entry,
  Kind,
  ListMessage,
  Row,
  RowsMessage,
} from "../../api/messages.ts";
import { get } from "../api.ts";
import { Choice, element } from "../dom.ts";
import type { Key } from "../keyboard.ts";
import {
  columnParameters,
  decodedPart,
  keepInAddress,
  openedIn,
  rememberPlace,
  type Route,
} from "../route.ts";
import { counted, shownName, unitOf } from "../text.ts";
import type { Scene, View } from "../view.ts";
import {
  emptyNote,
  entriesPane,
  keepTileSize,
  loadRowLines,
  type Mode,
  TILE_SIZES,
  tileSize,
} from "./pane.ts";
import type { PlacedRow, RowPainter } from "./row_lines.ts";
import type { Scroller } from "./scroller.ts";
import { PagedSource } from "./source.ts";
import { nameBelow } from "./tiles.ts";

/** Page size of entries, and of datapoints. */
const ENTRIES = 200;
const ROWS = 50;

/** Number of entries searched for the first datapoint. */
const MOST_LEAD = 16;

/** Delay until the address follows scrolling, in milliseconds. */
const ADDRESS_MS = 250;

function bestMode(entries: readonly (Entry | undefined)[]): Mode {
  const among = (...kinds: Kind[]) =>
    entries.filter((entry) => entry && kinds.includes(entry.kind)).length;
  const half = entries.length / 2;
  if (among("datapoint") > half) return "rows";
  return among("image", "clip", "video") > half ? "grid" : "table";
}

/** Places rows at their directory indices; other entries are `null`. */
function placedRows(
  { rows, total }: RowsMessage,
  at: number,
  limit: number,
): readonly PlacedRow[] {
  const end = Math.min(at + limit, total ?? (rows.at(-1)?.index ?? at - 1) + 1);
  const placed = new Map(rows.map((row) => [row.index, row]));
  return Array.from(
    { length: Math.max(0, end - at) },
    (_, i) => placed.get(at + i) ?? null,
  );
}

export class Listing implements View {
  readonly element = element("section", { class: "listing" });
  readonly title: string;
  readonly keys: readonly Key[];
  readonly #route: Route;
  readonly #signal: AbortSignal;
  readonly #entries: PagedSource<Entry>;
  readonly #rows: PagedSource<PlacedRow>;
  #painter: RowPainter | undefined;
  readonly #place = element("div", { class: "place" });
  readonly #said = element("p", { class: "said", role: "status" });
  readonly #problem = element("p", {
    class: "problem",
    role: "alert",
    hidden: true,
  });
  #columns: RowsMessage["keys"] = [];
  #path = "";
  /** Number of samples among the entries, if known. */
  #samples: number | null = null;
  readonly #unit: string;
  #mode: Mode = "table";
  #scroller: Scroller | undefined;
  #addressTimer: ReturnType<typeof setTimeout> | undefined;
  #first = 0;
  /** Number of entries before the first datapoint, such as a description. */
  #lead = 0;
  #isChosen = false;

  constructor(route: Route, { signal, info }: Scene) {
    this.#route = route;
    this.#signal = signal;
    this.#unit = unitOf(info.samples);
    this.title = route.url === ""
      ? ""
      : shownName(decodedPart(route.url.slice(route.url.lastIndexOf("/") + 1)));
    const path = route.url;
    this.#entries = new PagedSource(
      ENTRIES,
      async (at, limit, signal) => {
        const page = await get<ListMessage>(
          "list",
          { path, at, limit },
          signal,
        );
        this.#path = page.path;
        this.#samples = page.samples;
        const { entries: items, total, next } = page;
        return { items, total, hasMore: next !== null };
      },
      () => this.#onChange(),
      signal,
    );
    this.#rows = new PagedSource(
      ROWS,
      async (at, limit, signal) => {
        at += this.#lead;
        const page = await get<RowsMessage>("row", { path, at, limit }, signal);
        this.#columns = page.keys;
        const total = page.total === null ? null : page.total - this.#lead;
        const hasMore = page.next !== null;
        return { items: placedRows(page, at, limit), total, hasMore };
      },
      () => this.#onChange(),
      signal,
    );
    const size = (by: number) => () => this.#resizeTiles(by);
    this.keys = [
      {
        key: "v",
        says: "Switch between grid, table and rows",
        run: () => this.#cycle(),
      },
      { key: "+", says: "Larger tiles", run: size(1) },
      { key: "-", says: "Smaller tiles", run: size(-1) },
    ];
    signal.addEventListener("abort", () => clearTimeout(this.#addressTimer));
  }

  async load(): Promise<void> {
    const at = Math.max(
      0,
      Math.trunc(Number(this.#route.parameters.get("at"))) || 0,
    );
    this.#first = at;
    await this.#entries.load(at);
    this.#signal.throwIfAborted();
    // Without entries, no view can be chosen, so the whole view is retried.
    if (this.#entries.unreachable !== undefined) {
      throw this.#entries.unreachable;
    }
    const { length } = this.#entries;
    const looked = Array.from(
      { length: Math.min(ENTRIES, length) },
      (_, i) => this.#entries.at(Math.min(at, length - 1) + i),
    ).filter((entry) => entry !== undefined);
    const best = bestMode(looked);
    const asked = this.#route.parameters.get("view");
    this.#isChosen = asked !== null;
    this.#mode = asked === "grid" || asked === "table" || asked === "rows"
      ? asked
      : best;
    const modes: (readonly [Mode, string])[] = [["grid", "Grid"], [
      "table",
      "Table",
    ]];
    if (looked.some(({ kind }) => kind === "datapoint")) {
      modes.push(["rows", "Rows"]);
      this.#lead = await this.#countLead();
    } else if (this.#mode === "rows") this.#mode = best;
    this.#remember(at || null);
    this.#modes = modes.map(([mode]) => mode);
    this.#choice = new Choice(
      "View",
      modes,
      this.#mode,
      (mode) => void this.#setMode(mode),
    );
    this.element.append(
      element(
        "div",
        { class: "bar" },
        this.#said,
        this.#sizes,
        this.#choice.element,
      ),
      this.#problem,
      this.#place,
    );
    await this.#show();
  }

  #modes: readonly Mode[] = [];
  #choice: Choice<Mode> | undefined;
  readonly #sizes = element(
    "input",
    {
      type: "range",
      class: "sizes",
      min: 0,
      max: TILE_SIZES.length - 1,
      value: TILE_SIZES.findIndex((size) => size === tileSize()),
      "aria-label": "Size of tiles",
      input: () => this.#resizeTiles(0),
    },
  );

  /** The sources retry by themselves, so the view stays. */
  onBack(): boolean {
    return true;
  }

  onKey(key: string): boolean {
    return this.#scroller?.onKey(key) ?? false;
  }

  onShown(): void {
    const scroller = this.#scroller;
    if (scroller === undefined) return;
    const first = this.#first; // the initial layout resets it
    scroller.element.focus({ preventScroll: true }); // before the layout, while it is cheap
    scroller.layOut();
    const open = openedIn(this.#route.url);
    if (first > 0) scroller.show(first);
    const lead = this.#mode === "rows" ? this.#lead : 0;
    if (open >= lead) scroller.activate(open - lead);
  }

  jump(index: number): boolean {
    const isInRows = this.#mode === "rows" && index >= this.#lead;
    const { length, isGrowing } = this.#source;
    const end = isInRows ? length + this.#lead : length;
    if (index >= end && !isGrowing) return false;
    const at = this.#mode === "rows" ? Math.max(0, index - this.#lead) : index;
    this.#scroller?.show(at);
    this.#scroller?.activate(at);
    return true;
  }

  async #countLead(): Promise<number> {
    const query = { path: this.#route.url, at: 0, limit: MOST_LEAD };
    const { entries } = await get<ListMessage>("list", query, this.#signal);
    return Math.max(0, entries.findIndex(({ kind }) => kind === "datapoint"));
  }

  #remember(at: number | null): void {
    if (this.#signal.aborted) return; // already remembered on leaving
    const view = this.#isChosen ? this.#mode : null;
    const columns = columnParameters(this.#route);
    rememberPlace(this.#route.url, { view, at, ...columns });
  }

  #cycle(): void {
    const next = (this.#modes.indexOf(this.#mode) + 1) % this.#modes.length;
    this.#choice?.choose(this.#modes[next]!);
    void this.#setMode(this.#modes[next]!);
  }

  async #setMode(mode: Mode): Promise<void> {
    this.#first = this.#scroller?.first ?? 0;
    this.#mode = mode;
    this.#isChosen = true;
    keepInAddress(this.#route, { view: mode });
    this.#remember(this.#first || null);
    await this.#show();
    if (this.#mode === mode && !this.#signal.aborted) this.onShown();
  }

  #resizeTiles(by: number): void {
    const { length } = TILE_SIZES;
    const chosen = this.#sizes.valueAsNumber + by;
    this.#sizes.valueAsNumber = Math.max(0, Math.min(length - 1, chosen));
    keepTileSize(TILE_SIZES[this.#sizes.valueAsNumber]!);
    if (this.#mode === "grid") this.#scroller?.layOut();
  }

  async #show(): Promise<void> {
    this.#sizes.hidden = this.#mode !== "grid";
    const label = `Entries of ${this.title || "the container"}`;
    const onScroll = (first: number) => this.#onScroll(first);
    if (this.#mode === "rows") {
      const [{ RowPainter, rowsPane }] = await Promise.all([
        loadRowLines(),
        this.#rows.load(this.#first),
      ]);
      // The view may have changed meanwhile.
      if (this.#signal.aborted || this.#mode !== "rows") return;
      this.#painter ??= new RowPainter(this.#route, this.#signal, this.#unit);
      this.#painter.setColumns(this.#columns, this.#sampleRows());
      this.#scroller = rowsPane(
        this.#rows,
        this.#painter,
        this.#lead,
        {
          label,
          onScroll,
          onColumns: () => this.#remember(this.#scroller?.first || null),
        },
        this.#signal,
      );
    } else {
      this.#scroller = entriesPane(this.#entries, this.#mode, {
        label,
        nameOf: (entry) => nameBelow(entry, this.#path),
        onScroll,
      }, this.#signal);
    }
    this.#place.replaceChildren(
      this.#source.length === 0 && this.#source.problem === null
        ? emptyNote("The directory is empty.")
        : this.#scroller.element,
    );
    this.#onChange();
  }

  /** Returns the undamaged rows of the current page, to determine column widths. */
  #sampleRows(): readonly Row[] {
    const start = this.#first - this.#first % ROWS;
    return Array.from({ length: ROWS }, (_, i) => this.#rows.at(start + i))
      .flatMap((row) => row?.damage === null ? [row] : []);
  }

  get #source(): PagedSource<Entry> | PagedSource<PlacedRow> {
    return this.#mode === "rows" ? this.#rows : this.#entries;
  }

  #onChange(): void {
    const { length, isGrowing, problem } = this.#source;
    const [one, many] = this.#mode === "rows"
      ? [this.#unit]
      : ["entry", "entries"];
    const others = this.#samples === null ? 0 : length - this.#samples;
    const said = this.#mode !== "rows" && others > 0
      ? `${counted(this.#samples!, this.#unit)} and ${
        counted(others, "other entry", "other entries")
      }`
      : `${counted(length, one, many)}${isGrowing ? " or more" : ""}`;
    if (this.#said.textContent !== said) this.#said.textContent = said;
    this.#problem.hidden = problem === null;
    this.#problem.textContent = problem;
    this.#problem.classList.toggle(
      "gone",
      this.#source.unreachable !== undefined,
    );
    this.#scroller?.update();
  }

  #onScroll(first: number): void {
    if (first === this.#first || this.#signal.aborted) return;
    this.#first = first;
    this.#addressTimer ??= setTimeout(() => {
      this.#addressTimer = undefined;
      const at = this.#scroller?.first || null;
      keepInAddress(this.#route, { at });
      this.#remember(at);
    }, ADDRESS_MS);
  }
}

export async function listingView(
  route: Route,
  scene: Scene,
): Promise<Listing> {
  const listing = new Listing(route, scene);
  await listing.load();
  return listing;
}
