import type { Steps } from "../../../io/concurrency/steps.ts";
import { LARGEST_PAGE, MOST_TOGETHER } from "../layout.ts";
import type { ChunkPages, ChunkPlace } from "../pages/chunk_pages.ts";
import {
  assembleRows,
  decodeDictionary,
  decodeEntries,
  isOfDictionary,
  joinEntries,
  type OpenPage,
  openPage,
  type PageDecoder,
  type RowEntries,
  type Values,
} from "../pages/decode_page.ts";
import { CellFault } from "../../../codecs/cells/cell_fault.ts";
import type { LibraryColumn } from "../values/schema.ts";
import { Chunk } from "./parquet_index.ts";
import {
  continues,
  countToRow,
  pageWithRow,
  storedPage,
} from "./row_counts.ts";

export interface ChunkState {
  readonly place: ChunkPlace;
  readonly pages: ChunkPages;
  readonly decoder: PageDecoder;
  dictionary: Values | undefined;
}

export interface ColumnState {
  readonly chunks: readonly ChunkState[];
  readonly column: LibraryColumn;
  /** Largest chunk: rows that start in the same page of it are decoded together. */
  readonly grid: ChunkState;
  /** Bytes of its dictionaries. */
  weight: number;
}

export interface RowRange {
  readonly from: number;
  readonly to: number;
}

/** Estimates the bytes of a column's page locations and dictionaries. */
export function weightOf({ chunks, weight }: ColumnState): number {
  const pages = chunks.reduce((sum, { pages }) => sum + pages.starts.length, 0);
  return 1000 + 25 * pages + weight;
}

export function gridOf(chunks: readonly ChunkState[]): ChunkState {
  return chunks.reduce((most, one) =>
    one.place.numbers[Chunk.LENGTH]! > most.place.numbers[Chunk.LENGTH]!
      ? one
      : most
  );
}

/**
 * Decodes the leaves of a column, and assembles its rows.
 *
 * @param range Rows that start in one page of the grid.
 * @param near One of these rows: for lists with very many values, only the rows around it are decoded.
 */
export function* columnRows(
  state: ColumnState,
  range: RowRange,
  near: number,
  check: boolean,
): Steps<RowRange & { readonly rows: Values; readonly weight: number }> {
  const { chunks, column, grid } = state;
  const parts = new Map<string, Values>();
  const first = yield* chunkRows(state, grid, range, check, near);
  const { from, to } = first;
  let total = 0;
  for (const chunk of chunks) {
    const { rows, weight } = chunk === grid
      ? first
      : yield* chunkRows(state, chunk, first, check);
    if (rows.length !== to - from) {
      throw new CellFault(`has ${rows.length} values for ${to - from} rows`);
    }
    parts.set(chunk.decoder.leaf.path, rows);
    total += weight;
  }
  if (!column.isFlat) {
    grid.decoder.library.assembleNested(
      parts as never,
      column.tree,
      undefined as never, // parsers, needed by VARIANT only
    );
    total *= 2;
  }
  return { from, to, rows: parts.get("0")!, weight: total };
}

/** Decodes rows of a leaf, and assembles them as far as one leaf allows. */
function* chunkRows(
  state: ColumnState,
  chunk: ChunkState,
  range: RowRange,
  check: boolean,
  near?: number,
): Steps<RowRange & { readonly rows: Values; readonly weight: number }> {
  const read = yield* chunkEntries(state, chunk, range, check, near);
  const { from, to, entries, weight } = read;
  const rows = from === to ? [] : assembleRows(entries, chunk.decoder);
  return { from, to, rows, weight };
}

/**
 * Decodes values and levels of a leaf's rows, from the page in which the first starts to the page in which the last
 * ends.
 *
 * @param near One of the rows, if those around it suffice.
 */
export function* chunkEntries(
  state: ColumnState,
  chunk: ChunkState,
  range: RowRange,
  check: boolean,
  near?: number,
): Steps<RowRange & { readonly entries: RowEntries; readonly weight: number }> {
  const { pages, decoder } = chunk;
  let { from, to } = range;
  yield* countToRow(chunk, to - 1, check);
  const start = pageWithRow(pages, from);
  const parts: RowEntries[] = [];
  let weight = 0;
  for (let number = start; number < pages.starts.length; number++) {
    const stored = yield* storedPage(chunk, number, check);
    const page = yield* openPage(stored, decoder);
    const first = pages.firsts[number]!;
    requireRows(page, chunk, number);
    if (near !== undefined && number === start) {
      ({ from, to } = around(page, { from, to }, first, near));
    }
    if (isOfDictionary(page.encoding)) {
      yield* readDictionary(state, chunk, check);
    }
    const part = decodeEntries(
      page,
      decoder,
      chunk.dictionary,
      number === start ? from - first : undefined,
      to - first,
    );
    parts.push(part);
    weight += part.weight;
    if (weight > LARGEST_PAGE) {
      throw new CellFault(
        `has rows that take more than the limit of ${LARGEST_PAGE} bytes ` +
          "together. Write it in smaller pages",
        "too-large",
      );
    }
    const past = first + page.begun;
    if (past > to) break;
    if (past === to && !(yield* continues(chunk, number + 1, check))) break;
  }
  return { from, to, entries: joinEntries(parts), weight };
}

/** Checks the rows of a page against its header, the index, or its levels. */
function requireRows(page: OpenPage, chunk: ChunkState, number: number): void {
  const { firsts, inside, counted } = chunk.pages;
  if (inside === undefined && (page.repetition[0] ?? 0) > 0) {
    throw new CellFault("continues a row that has not begun");
  }
  const rows = firsts[number + 1]! - firsts[number]!;
  if (number < counted && page.begun !== rows) {
    throw new CellFault(
      `has a page of ${page.begun} rows, which should have ${rows}`,
    );
  }
}

/** Narrows the rows of a page with very many values to those around one. */
function around(
  { count, begun }: OpenPage,
  range: RowRange,
  first: number,
  near: number,
): RowRange {
  if (count <= MOST_TOGETHER || count === begun) return range;
  const each = Math.max(1, Math.floor(begun * MOST_TOGETHER / count));
  const from = first + each * Math.floor((near - first) / each);
  return { from, to: Math.min(range.to, from + each) };
}

function* readDictionary(
  state: ColumnState,
  chunk: ChunkState,
  check: boolean,
): Steps<void> {
  const { pages: { dictionary }, decoder } = chunk;
  if (chunk.dictionary !== undefined || dictionary === undefined) return;
  try {
    const page = yield* storedPage(chunk, dictionary, check);
    if (page.header.type !== "DICTIONARY_PAGE") {
      throw new CellFault("has no dictionary where it should be");
    }
    const { rows, weight } = yield* decodeDictionary(page, decoder);
    chunk.dictionary = rows;
    state.weight += weight;
  } catch (error) {
    if (error instanceof CellFault) error.isOfAll = true;
    throw error;
  }
}

/** Yields the counted pages in which rows start. */
export function* pagesWith(
  pages: ChunkPages,
  { from, to }: RowRange,
): Generator<number> {
  const { firsts, counted } = pages;
  if (from >= to || counted === 0) return;
  for (let page = pageWithRow(pages, from); page < counted; page++) {
    if (firsts[page]! >= to) return;
    yield page;
  }
}
