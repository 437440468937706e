import { LruCache } from "../../../io/block_cache/lru_cache.ts";
import type { Steps } from "../../../io/concurrency/steps.ts";
import type { ByteSource } from "../../../io/storage/byte_source.ts";
import {
  type ColumnPlace,
  type DecodedPart,
  GroupedCells,
  type Part,
} from "../../../tree/rows/grouped_cells.ts";
import type { DecodedRows } from "../../../tree/rows/row_format.ts";
import { CODECS } from "../layout.ts";
import { chunkPages } from "../pages/chunk_pages.ts";
import { type LibraryColumn, libraryColumn } from "../values/schema.ts";
import { Chunk, type ParquetFile } from "./parquet_index.ts";
import {
  type ChunkState,
  columnRows,
  type ColumnState,
  gridOf,
  pagesWith,
  weightOf,
} from "./decode_rows.ts";
import { loadLibrary } from "./library.ts";
import { countToRow, hasCounted, pageWithRow } from "./row_counts.ts";

/** Maximum bytes of page locations and dictionaries cached. */
const MOST_KNOWN = 32 << 20;

/** Decodes cells by pages. Cells of the same pages are decoded together, and cached (LRU) for their neighbours. */
export class CellReader extends GroupedCells<ParquetFile, ColumnState> {
  protected readonly groupName = "row group";
  protected readonly check: boolean;
  /** Cache of column chunks' page locations and dictionaries. */
  readonly #states = new LruCache<ColumnState>(MOST_KNOWN);
  readonly #columns: LibraryColumn[][] = [];

  /**
   * @param open Returns the source of a file.
   * @param check Whether to verify the CRC-32 of pages that have one.
   * @param most Maximum bytes of decoded rows cached.
   */
  constructor(
    files: readonly ParquetFile[],
    open: (file: number) => Steps<ByteSource>,
    check: boolean,
    most?: number,
  ) {
    super(files, open, most);
    this.check = check;
  }

  protected loaded(place: ColumnPlace): ColumnState | undefined {
    return this.#states.get(this.keyOf(place));
  }

  protected *load(place: ColumnPlace): Steps<ColumnState> {
    const kept = this.loaded(place);
    if (kept !== undefined) return kept;
    const { file, group, column } = place;
    const { path, columns, chunks, firsts, leaves } = this.files[file]!;
    const library = yield* loadLibrary(path);
    const source = yield* this.open(file);
    const described = (this.#columns[file] ??= [])[column] ??= libraryColumn(
      columns[column]!,
    );
    const rows = firsts[group + 1]! - firsts[group]!;
    const states: ChunkState[] = [];
    for (const [i, leaf] of described.leaves.entries()) {
      const at = (group * leaves + columns[column]!.leaf + i) * Chunk.FIELDS;
      const numbers = chunks.subarray(at, at + Chunk.FIELDS);
      const place = { source, numbers, rows, leaf };
      const pages = yield* chunkPages(place, library);
      const codec = CODECS[numbers[Chunk.CODEC]!]!;
      const decoder = { leaf, codec, library };
      states.push({ place, pages, decoder, dictionary: undefined });
    }
    const grid = gridOf(states);
    const state = { chunks: states, column: described, grid, weight: 0 };
    this.#states.set(this.keyOf(place), state, weightOf(state));
    return state;
  }

  protected knownPart(
    state: ColumnState,
    _place: ColumnPlace,
    row: number,
  ): Part | undefined {
    const { pages } = state.grid;
    return hasCounted(pages, row) ? partOf(state, row) : undefined;
  }

  /** Counts pages as far as necessary. */
  protected override *findPart(
    state: ColumnState,
    _place: ColumnPlace,
    row: number,
  ): Steps<Part> {
    yield* countToRow(state.grid, row, this.check);
    return partOf(state, row);
  }

  protected *decodePart(
    state: ColumnState,
    place: ColumnPlace,
    part: Part,
    row: number,
  ): Steps<DecodedPart> {
    const before = state.weight;
    const made = yield* columnRows(state, part, row, this.check);
    if (state.weight !== before) {
      this.#states.set(this.keyOf(place), state, weightOf(state));
    }
    const rows = made.rows as DecodedRows["rows"]; // arrays
    return { from: made.from, rows, weight: made.weight };
  }

  protected override *partsIn(
    { chunks, grid }: ColumnState,
  ): Steps<Float64Array> {
    for (const chunk of chunks) {
      yield* countToRow(chunk, Infinity, this.check);
    }
    return grid.pages.firsts;
  }

  protected prefetchPart(
    state: ColumnState,
    _place: ColumnPlace,
    part: Part,
  ): number {
    let bytes = 0;
    for (const { place, pages } of state.chunks) {
      for (const page of pagesWith(pages, part)) {
        const length = pages.lengths[page]!;
        const isNoted = place.source.prefetch?.(pages.starts[page]!, length);
        if (isNoted === true) bytes += length;
      }
    }
    return bytes;
  }
}

function partOf({ grid: { pages } }: ColumnState, row: number): Part {
  const number = pageWithRow(pages, row);
  return { number, from: pages.firsts[number]!, to: pages.firsts[number + 1]! };
}
