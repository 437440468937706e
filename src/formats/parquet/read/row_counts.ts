import { yieldWhenDue } from "../../../io/concurrency/event_loop.ts";
import { perform, type Steps } from "../../../io/concurrency/steps.ts";
import { lastUpTo } from "../../../tree/shared_numbers.ts";
import { type ChunkPages, pageOf, readPage } from "../pages/chunk_pages.ts";
import { repetitionOf, type StoredPage } from "../pages/decode_page.ts";
import { countLevels } from "../pages/levels.ts";
import { CellFault } from "../../../codecs/cells/cell_fault.ts";
import type { ChunkState } from "./decode_rows.ts";

/** Reads a page of a column chunk: a data page by its index, or any page by its location. */
export function* storedPage(
  { pages: { starts, lengths }, place, decoder }: ChunkState,
  page: number | { readonly start: number; readonly length: number },
  check: boolean,
): Steps<StoredPage> {
  const { start, length } = typeof page === "number"
    ? { start: starts[page]!, length: lengths[page]! }
    : page;
  return yield* readPage(
    place.source,
    start,
    length,
    (bytes) => pageOf(bytes, decoder.library, check),
  );
}

/**
 * Counts the rows of pages by their levels, continuing after the last counted one, until the page of a row is known.
 *
 * @param row Index of the row in its row group. The total number of rows, or more, counts all pages.
 */
export function* countToRow(
  chunk: ChunkState,
  row: number,
  check: boolean,
): Steps<void> {
  const { pages } = chunk;
  while (!hasCounted(pages, row)) yield* countPage(chunk, check);
}

/** Whether the page in which a row starts is known. */
export function hasCounted(
  { counted, firsts, starts }: ChunkPages,
  row: number,
): boolean {
  return counted === starts.length || firsts[counted]! > row;
}

/** Whether a page continues the last row of the previous one. */
export function* continues(
  chunk: ChunkState,
  page: number,
  check: boolean,
): Steps<boolean> {
  const { inside, starts } = chunk.pages;
  if (inside === undefined || page >= starts.length) return false;
  while (chunk.pages.counted <= page) yield* countPage(chunk, check);
  return inside[page] === 1;
}

/** Returns the counted page in which a row starts. */
export function pageWithRow(
  { firsts, counted }: ChunkPages,
  row: number,
): number {
  return lastUpTo(firsts, row, counted);
}

function* countPage(chunk: ChunkState, check: boolean): Steps<void> {
  const { pages, place, decoder } = chunk;
  yield* perform(yieldWhenDue); // a column may have thousands of pages
  const page = pages.counted;
  const stored = yield* storedPage(chunk, page, check);
  const repetition = yield* repetitionOf(stored, decoder);
  if (pages.counted !== page) return; // counted by another reader meanwhile
  const isInside = (repetition[0] ?? 0) > 0;
  if (isInside && page === 0) {
    throw new CellFault("continues a row that has not begun");
  }
  const rows = pages.firsts[page]! + countLevels(repetition, 0);
  const isLast = page + 1 === pages.starts.length;
  if (rows > place.rows || isLast && rows !== place.rows) {
    throw new CellFault(
      `has ${rows} rows in its pages, but ${place.rows} according to the footer`,
    );
  }
  pages.inside![page] = isInside ? 1 : 0;
  pages.firsts[page + 1] = rows;
  pages.counted = page + 1;
}
