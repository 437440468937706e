/** Panes of entries as tiles or lines, from any source. */
import type { Entry } from "../../api/messages.ts";
import { element, loadStyle } from "../dom.ts";
import { count } from "../text.ts";
import { type Layout, Scroller } from "./scroller.ts";
import type { Source } from "./source.ts";
import { entryHref, lineHead, linePainter, tilePainter } from "./tiles.ts";

export type Mode = "grid" | "table" | "rows";

export interface PaneOptions {
  readonly label: string;
  nameOf(entry: Entry): string;
  /** Address of the list, if it is not a directory. */
  list?(): string;
  onScroll(first: number): void;
}

/** Height of a line in pixels, with a mouse and on touch screens. Must match the style sheets. */
const LINE_HEIGHT = 36;
const TOUCHED_HEIGHT = 44;
const TOUCH = matchMedia("(max-width: 640px), (pointer: coarse)");
const CAPTION_HEIGHT = 30;

export const TILE_SIZES = [88, 120, 168, 240] as const;

const TILE_KEY = "recordfs.tile";

export function tileSize(): number {
  try {
    const kept = Number(localStorage.getItem(TILE_KEY));
    return TILE_SIZES.find((size) => size === kept) ?? TILE_SIZES[2];
  } catch {
    return TILE_SIZES[2]; // storage may be disabled
  }
}

export function keepTileSize(size: number): void {
  try {
    localStorage.setItem(TILE_KEY, String(size));
  } catch {
    // The default is used next time.
  }
}

export function entriesPane(
  source: Source<Entry>,
  mode: "grid" | "table",
  { label, nameOf, list, onScroll }: PaneOptions,
  signal: AbortSignal,
): Scroller {
  const painter = mode === "grid" ? tilePainter(tileSize) : linePainter();
  let widest = "";
  // The column of numbers is as wide as the last number.
  const widen = () => {
    const width = `${Math.max(3, count(source.length).length)}ch`;
    if (width === widest) return;
    widest = width;
    scroller.element.style.setProperty("--number", width);
  };
  const scroller = new Scroller({
    label,
    role: mode === "grid" ? "listbox" : "grid",
    count: () => source.length,
    layout: mode === "grid" ? tileLayout : lineLayout,
    make: painter.make,
    draw(index, into, isPassing) {
      const entry = source.at(index);
      painter.draw(
        {
          entry,
          index,
          name: entry === undefined ? "" : nameOf(entry),
          href: entry === undefined ? "" : entryHref(entry, index, list?.()),
        },
        into,
        isPassing,
      );
    },
    onRange(first, end) {
      source.want(first, end);
      onScroll(first);
      widen();
    },
    open(index) {
      const entry = source.at(index);
      if (entry !== undefined) {
        location.hash = entryHref(entry, index, list?.());
      }
    },
  }, signal);
  scroller.element.classList.add(mode);
  if (mode === "table") scroller.element.prepend(lineHead());
  return scroller;
}

function lineLayout(): Layout {
  const rowHeight = TOUCH.matches ? TOUCHED_HEIGHT : LINE_HEIGHT;
  return { columns: 1, rowHeight };
}

function tileLayout(width: number): Layout {
  const size = tileSize();
  // At least two columns, even on the narrowest screens.
  const columns = Math.max(2, Math.floor(width / size));
  const tile = Math.max(1, width / columns);
  return { columns, rowHeight: Math.round(tile) + CAPTION_HEIGHT };
}

export async function loadRowLines(): Promise<
  typeof import("./row_lines.ts")
> {
  const [lines] = await Promise.all([
    import("./row_lines.ts"),
    loadStyle("item"),
  ]);
  return lines;
}

export function emptyNote(text: string): HTMLElement {
  return element("p", { class: "empty" }, text);
}
