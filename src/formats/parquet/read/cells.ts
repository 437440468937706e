import { FormatError } from "../../../base/errors.ts";
import { abortable } from "../../../io/concurrency/abortable.ts";
import {
  perform,
  runAsync,
  runSync,
  type Steps,
} from "../../../io/concurrency/steps.ts";
import { LruCache } from "../../../io/block_cache/lru_cache.ts";
import type { ByteSource } from "../../../io/storage/byte_source.ts";
import { lastUpTo } from "../../../tree/shared_numbers.ts";
import { CODECS } from "../layout.ts";
import { chunkPages } from "../pages/chunk_pages.ts";
import type { Values } from "../pages/decode_page.ts";
import { PageFault } from "../pages/page_fault.ts";
import { type LibraryColumn, libraryColumn } from "../values/schema.ts";
import { Chunk } from "./parquet_index.ts";
import {
  type ChunkState,
  columnRows,
  type ColumnState,
  gridOf,
  pagesWith,
  type RowRange,
  weightOf,
} from "./decode_rows.ts";
import { loadLibrary } from "./library.ts";
import { countToRow, hasCounted, pageWithRow } from "./row_counts.ts";
import type { ParquetFile } from "./parquet_files.ts";

/** Default maximum bytes of decoded rows cached. */
const MOST_KEPT = 128 << 20;
/** Maximum bytes of page locations and dictionaries cached. */
const MOST_KNOWN = 32 << 20;
/** Maximum number of parts of a column chunk, for cache keys. */
const MOST_PARTS = 2 ** 20;

export interface DecodedRows {
  /** Index of the first, in its file. */
  readonly first: number;
  readonly rows: Values;
}

/** Location of a cell among those decoded with it. */
export interface CellPlace {
  /** Index of the column chunk, over all files. */
  readonly column: number;
  /** Index of the rows decoded together, in the row group. */
  readonly part: number;
  /** Index of the cell among them, and their number. */
  readonly index: number;
  readonly count: number;
}

const FAULTS: Readonly<Record<PageFault["kind"], FormatError["code"]>> = {
  damaged: "bad-structure",
  sum: "sample-checksum",
  "too-large": "too-large",
  unsupported: "unsupported",
};

/** Decodes cells by pages. Cells of the same pages are decoded together, and cached (LRU) for their neighbours. */
export class CellReader {
  readonly #files: readonly ParquetFile[];
  readonly #open: (file: number) => Steps<ByteSource>;
  readonly #check: boolean;
  /** Cache of column chunks' page locations and dictionaries. */
  readonly #states = new LruCache<ColumnState>(MOST_KNOWN);
  readonly #kept: LruCache<DecodedRows>;
  /** Per file: number of column chunks of all earlier files. */
  readonly #firsts: number[] = [0];
  /** Decoding in progress, by column chunk. */
  readonly #running = new Map<number, Promise<void>>();
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
    most = MOST_KEPT,
  ) {
    this.#files = files;
    this.#open = open;
    this.#check = check;
    this.#kept = new LruCache(most);
    for (const { firsts, columns } of files) {
      const count = (firsts.length - 1) * columns.length;
      this.#firsts.push(this.#firsts.at(-1)! + count);
    }
  }

  /** Returns the cached rows that contain a cell, if any. */
  kept(file: number, column: number, row: number): DecodedRows | undefined {
    const group = this.#groupOf(file, row);
    const key = this.#key(file, group, column);
    const state = this.#states.get(key);
    if (state === undefined) return undefined;
    const part = partOf(state, this.#within(file, group, row));
    if (part === undefined) return undefined;
    const kept = this.#kept.get(key * MOST_PARTS + part);
    const isIn = kept !== undefined && row >= kept.first &&
      row < kept.first + kept.rows.length;
    return isIn ? kept : undefined;
  }

  /** Decodes the rows around a cell of a row in its file. Throws `FormatError` if they are damaged. */
  *decode(file: number, column: number, row: number): Steps<DecodedRows> {
    return this.kept(file, column, row) ?? (yield* perform<DecodedRows>({
      sync: () => runSync(this.#decode(file, column, row)),
      async: (signal) => this.#inTurn(file, column, row, signal),
    }));
  }

  /** Decodes once nothing else decodes the same column chunk, which may already produce the wanted rows. */
  async #inTurn(
    file: number,
    column: number,
    row: number,
    signal: AbortSignal | undefined,
  ): Promise<DecodedRows> {
    const key = this.#key(file, this.#groupOf(file, row), column);
    for (let other; (other = this.#running.get(key)) !== undefined;) {
      await abortable(other, signal);
      const kept = this.kept(file, column, row);
      if (kept !== undefined) return kept;
    }
    const decoding = runAsync(this.#decode(file, column, row), signal);
    const turn = decoding.then(() => {}, () => {}); // errors are reported to the caller
    this.#running.set(key, turn);
    try {
      return await decoding;
    } finally {
      this.#running.delete(key);
    }
  }

  *#decode(file: number, column: number, row: number): Steps<DecodedRows> {
    const group = this.#groupOf(file, row);
    const key = this.#key(file, group, column);
    let rows: readonly [number, number] | undefined;
    try {
      const state = yield* this.#state(file, group, column);
      const within = this.#within(file, group, row);
      const part = yield* this.#countedPart(state, within);
      const range = rangeOf(state, part);
      const before = state.weight;
      const start = this.#files[file]!.firsts[group]!;
      rows = [start + range.from, start + range.to];
      const made = yield* columnRows(state, range, within, this.#check);
      if (state.weight !== before) {
        this.#states.set(key, state, weightOf(state));
      }
      const decoded = { first: start + made.from, rows: made.rows };
      this.#kept.set(key * MOST_PARTS + part, decoded, made.weight);
      return decoded;
    } catch (error) {
      throw this.#faultOf(error, file, group, column, rows);
    }
  }

  /**
   * Returns the location of a cell among those decoded with it. For lists with very many values, fewer are actually
   * decoded. Throws `FormatError` if the column is damaged.
   */
  *place(file: number, column: number, row: number): Steps<CellPlace> {
    const group = this.#groupOf(file, row);
    try {
      const state = yield* this.#state(file, group, column);
      const within = this.#within(file, group, row);
      const part = yield* this.#countedPart(state, within);
      const { from, to } = rangeOf(state, part);
      return {
        column: this.#key(file, group, column),
        part,
        index: within - from,
        count: to - from,
      };
    } catch (error) {
      throw this.#faultOf(error, file, group, column);
    }
  }

  /**
   * Returns the start rows of the parts of a row group that are decoded together, and the end of the last. Throws
   * `FormatError` if it is damaged.
   */
  *partsOf(file: number, group: number, column: number): Steps<Float64Array> {
    try {
      const { chunks, grid } = yield* this.#state(file, group, column);
      for (const chunk of chunks) {
        yield* countToRow(chunk, Infinity, this.#check);
      }
      return grid.pages.firsts;
    } catch (error) {
      throw this.#faultOf(error, file, group, column);
    }
  }

  /**
   * Hints that a cell will be read soon. Has an effect only if its pages are known.
   *
   * @returns Bytes that are being prefetched or cached.
   */
  prefetch(file: number, column: number, row: number): number {
    const group = this.#groupOf(file, row);
    const key = this.#key(file, group, column);
    const state = this.#states.get(key);
    if (state === undefined) return 0;
    const part = partOf(state, this.#within(file, group, row));
    if (part === undefined) return 0;
    const range = rangeOf(state, part);
    let bytes = 0;
    for (const { place, pages } of state.chunks) {
      for (const page of pagesWith(pages, range)) {
        const length = pages.lengths[page]!;
        const isNoted = place.source.prefetch?.(pages.starts[page]!, length);
        if (isNoted === true) bytes += length;
      }
    }
    return bytes;
  }

  #groupOf(file: number, row: number): number {
    const { firsts } = this.#files[file]!;
    return lastUpTo(firsts, row, firsts.length - 1);
  }

  /** Returns the index of a row in its row group. */
  #within(file: number, group: number, row: number): number {
    return row - this.#files[file]!.firsts[group]!;
  }

  /** Returns the part that contains a row, counting pages as far as necessary. */
  *#countedPart(state: ColumnState, within: number): Steps<number> {
    yield* countToRow(state.grid, within, this.#check);
    return pageWithRow(state.grid.pages, within);
  }

  #key(file: number, group: number, column: number): number {
    const { columns } = this.#files[file]!;
    return this.#firsts[file]! + group * columns.length + column;
  }

  *#state(file: number, group: number, column: number): Steps<ColumnState> {
    const key = this.#key(file, group, column);
    const kept = this.#states.get(key);
    if (kept !== undefined) return kept;
    const { path, columns, chunks, firsts, leaves } = this.#files[file]!;
    const library = yield* loadLibrary(path);
    const source = yield* this.#open(file);
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
    this.#states.set(key, state, weightOf(state));
    return state;
  }

  #faultOf(
    error: unknown,
    file: number,
    group: number,
    column: number,
    rows?: readonly [number, number],
  ): unknown {
    if (!(error instanceof PageFault)) return error;
    const { path, columns } = this.#files[file]!;
    const way = error.kind === "damaged" || error.kind === "sum"
      ? ". Download or write the file again"
      : "";
    const [first, past] = error.isOfAll ? [] : rows ?? [];
    const which = first === undefined ? "" : ` (rows ${first} to ${past! - 1})`;
    return new FormatError(
      FAULTS[error.kind],
      `Cannot read column '${columns[column]!.name}' of row group ` +
        `${group}${which} of ${path}: it ${error.message}${way}`,
      { path, sample: first, cause: error.cause ?? error },
    );
  }
}

/** Returns the part that contains a row, if known. */
function partOf(
  { grid: { pages } }: ColumnState,
  within: number,
): number | undefined {
  return hasCounted(pages, within) ? pageWithRow(pages, within) : undefined;
}

function rangeOf({ grid: { pages } }: ColumnState, part: number): RowRange {
  return { from: pages.firsts[part]!, to: pages.firsts[part + 1]! };
}
