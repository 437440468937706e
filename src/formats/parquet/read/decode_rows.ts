import type { Steps } from "../../../io/concurrency/steps.ts";
import type { ByteSource } from "../../../io/storage/byte_source.ts";
import { lastUpTo } from "../../../tree/shared_numbers.ts";
import { LARGEST_PAGE } from "../layout.ts";
import {
  type ChunkPages,
  type ChunkPlace,
  pageOf,
  readPage,
} from "../pages/chunk_pages.ts";
import {
  decodeDictionary,
  decodePage,
  type PageDecoder,
  type Values,
} from "../pages/decode_page.ts";
import { PageFault } from "../pages/page_fault.ts";
import type { LibraryColumn } from "../values/schema.ts";
import { Chunk } from "./footer.ts";
import type { ParquetLibrary } from "./library.ts";

/** A leaf of a column in a row group. */
export interface ChunkState {
  readonly place: ChunkPlace;
  readonly pages: ChunkPages;
  readonly decoder: PageDecoder;
  dictionary: Values | undefined;
}

/** A column in a row group: what is known of its pages. */
export interface ColumnState {
  readonly chunks: readonly ChunkState[];
  readonly column: LibraryColumn;
  /** Rows that are decoded together start here; and once more, the number of all. */
  readonly grid: Float64Array;
  /** Bytes of its dictionaries. */
  weight: number;
}

/** About how many bytes the pages and dictionaries of a column keep. */
export function weightOf({ chunks, weight }: ColumnState): number {
  const pages = chunks.reduce((sum, { pages }) => sum + pages.starts.length, 0);
  return 1000 + 24 * pages + weight;
}

/** Rows that are decoded together: those in a page of the leaf that takes most, or all where others' are not known. */
export function gridOf(
  chunks: readonly ChunkState[],
  rows: number,
): Float64Array {
  const whole = Float64Array.of(0, rows);
  const length = ({ place }: ChunkState) => place.numbers[Chunk.LENGTH]!;
  const [most] = [...chunks].sort((a, b) => length(b) - length(a));
  const isKnown = chunks.every(({ pages }) => pages.firsts !== undefined);
  return most === undefined || !isKnown || rows === 0
    ? whole
    : most.pages.firsts!;
}

/** Decodes the leaves of a column, and puts them together. */
export function* columnRows(
  state: ColumnState,
  from: number,
  to: number,
  check: boolean,
): Steps<{ readonly rows: Values; readonly weight: number }> {
  const { chunks, column } = state;
  const parts = new Map<string, Values>();
  let total = 0;
  for (const chunk of chunks) {
    const { rows, weight } = yield* chunkRows(state, chunk, from, to, check);
    if (rows.length !== to - from) {
      throw new PageFault(`has ${rows.length} values for ${to - from} rows`);
    }
    parts.set(chunk.decoder.leaf.path, rows);
    total += weight;
  }
  const [first] = chunks;
  if (column.isFlat) return { rows: parts.get("0")!, weight: total };
  const { library } = first!.decoder;
  library.assembleNested(
    parts as never,
    column.tree,
    undefined as never, // of values that are told apart by what they stand for, which these are not
  );
  return { rows: parts.get("0")!, weight: 2 * total };
}

/** Decodes rows of a leaf. */
function* chunkRows(
  state: ColumnState,
  chunk: ChunkState,
  from: number,
  to: number,
  check: boolean,
): Steps<{ readonly rows: Values; readonly weight: number }> {
  const { pages, place, decoder } = chunk;
  const isWhole = pages.firsts === undefined;
  const wanted = isWhole
    ? [...pages.starts.keys()]
    : [...pagesWith(pages, from, to)];
  let [rows, weight]: [Values, number] = [[], 0];
  for (const number of wanted) {
    const page = yield* storedPage(
      place.source,
      pages.starts[number]!,
      pages.lengths[number]!,
      decoder.library,
      check,
    );
    const { encoding } = page.header.data_page_header_v2 ??
      page.header.data_page_header ?? {};
    if (encoding?.endsWith("_DICTIONARY")) {
      yield* readDictionary(state, chunk, check);
    }
    const before = isWhole ? rows as unknown[] : undefined;
    const decoded = yield* decodePage(page, decoder, chunk.dictionary, before);
    weight += decoded.weight;
    if (weight > LARGEST_PAGE) {
      throw new PageFault(
        `has rows that take more than ${LARGEST_PAGE} bytes together: write it in smaller pages`,
        "too-large",
      );
    }
    if (isWhole) rows = decoded.rows;
    else {
      const [start, end] = [pages.firsts![number]!, pages.firsts![number + 1]!];
      if (decoded.rows.length !== end - start) {
        throw new PageFault(
          `has a page of ${decoded.rows.length} rows, which should have ${
            end - start
          }`,
        );
      }
      if (start === from && end === to) return { rows: decoded.rows, weight };
      const cut = Array.prototype.slice.call(
        decoded.rows,
        Math.max(0, from - start),
        Math.min(end, to) - start,
      );
      rows = (rows as unknown[]).concat(cut);
    }
  }
  return { rows, weight };
}

function* readDictionary(
  state: ColumnState,
  chunk: ChunkState,
  check: boolean,
): Steps<void> {
  const { pages: { dictionary }, place, decoder } = chunk;
  if (chunk.dictionary !== undefined || dictionary === undefined) return;
  try {
    const page = yield* storedPage(
      place.source,
      dictionary.start,
      dictionary.length,
      decoder.library,
      check,
    );
    if (page.header.type !== "DICTIONARY_PAGE") {
      throw new PageFault("has no dictionary where it should be");
    }
    const { rows, weight } = yield* decodeDictionary(page, decoder);
    chunk.dictionary = rows;
    state.weight += weight;
  } catch (error) {
    if (error instanceof PageFault) error.isOfAll = true;
    throw error;
  }
}

function* storedPage(
  source: ByteSource,
  start: number,
  length: number,
  library: ParquetLibrary,
  check: boolean,
) {
  return pageOf(yield* readPage(source, start, length), library, check);
}

/** Pages that have some of these rows. */
export function* pagesWith(
  { firsts, starts }: ChunkPages,
  from: number,
  to: number,
): Generator<number> {
  if (firsts === undefined || from >= to) return;
  let page = lastUpTo(firsts, from, starts.length);
  for (; page < starts.length && firsts[page]! < to; page++) yield page;
}
