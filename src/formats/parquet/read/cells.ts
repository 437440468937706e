import { FormatError, type FormatErrorCode } from "../../../base/errors.ts";
import { abortable } from "../../../io/concurrency/abortable.ts";
import {
  perform,
  runAsync,
  runSync,
  type Steps,
} from "../../../io/concurrency/steps.ts";
import { KeptValues } from "../../../io/decoded/kept_values.ts";
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

/** Bytes of what is kept decoded. */
const MOST_KEPT = 128 << 20;
/** Bytes of where pages are, and of dictionaries. */
const MOST_KNOWN = 32 << 20;
/** Parts of a column of one row group, at most, in the numbers of what is kept. */
const MOST_PARTS = 2 ** 20;

/** Rows of a column that were decoded together. */
export interface DecodedRows {
  /** The first of them, in its file. */
  readonly first: number;
  readonly rows: Values;
}

/** A cell among those that it is decoded with. */
export interface CellPlace {
  /** Number of the column in its row group, over all files. */
  readonly column: number;
  /** Number of the rows that are decoded together, in the row group. */
  readonly part: number;
  /** Number of the cell among them, and how many they are. */
  readonly index: number;
  readonly count: number;
}

const FAULTS: Readonly<Record<PageFault["kind"], FormatErrorCode>> = {
  damaged: "bad-structure",
  sum: "sample-checksum",
  "too-large": "too-large",
  unsupported: "unsupported",
};

/**
 * Decodes cells by pages: those that lie in the same pages are decoded together, and what was used of late is kept, for
 * whoever asks for their neighbours.
 */
export class CellReader {
  readonly #files: readonly ParquetFile[];
  readonly #open: (file: number) => Steps<ByteSource>;
  readonly #check: boolean;
  /** What is known of column chunks, with their dictionaries. */
  readonly #states = new KeptValues<ColumnState>(MOST_KNOWN);
  readonly #kept: KeptValues<DecodedRows>;
  /** Per file: columns in row groups of all files before it. */
  readonly #firsts: number[] = [0];
  /** By column chunk: decoding that is under way. */
  readonly #running = new Map<number, Promise<void>>();
  /** By file, by column. */
  readonly #columns: LibraryColumn[][] = [];

  /**
   * @param open Gives the source of a file.
   * @param check Whether pages are compared with their CRC-32, where they have one.
   * @param most Bytes of what is kept.
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
    this.#kept = new KeptValues(most);
    for (const { firsts, columns } of files) {
      const count = (firsts.length - 1) * columns.length;
      this.#firsts.push(this.#firsts.at(-1)! + count);
    }
  }

  /** The rows that a cell was decoded with, where they are kept. */
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

  /**
   * Decodes the rows that a cell lies with.
   *
   * @param row Number of the row in its file.
   * @throws {FormatError} If they are damaged.
   */
  *decode(file: number, column: number, row: number): Steps<DecodedRows> {
    return this.kept(file, column, row) ?? (yield* perform<DecodedRows>({
      sync: () => runSync(this.#decode(file, column, row)),
      async: (signal) => this.#inTurn(file, column, row, signal),
    }));
  }

  /** Decodes when nobody decodes of the same column chunk: what that makes may be what is wanted. */
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
    const turn = decoding.then(() => {}, () => {}); // who asked is told
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
   * Says with which rows a cell is decoded; of lists with very many values, the cell is decoded with fewer.
   *
   * @throws {FormatError} If its column is damaged.
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
   * Where the rows start that are decoded together, of a row group; and once more, where they end.
   *
   * @throws {FormatError} If it is damaged.
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
   * Says that a cell will be read soon, where it is known which pages it is in.
   *
   * @returns How many bytes are fetched, or have been.
   */
  expect(file: number, column: number, row: number): number {
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
        const isNoted = place.source.expect?.(pages.starts[page]!, length);
        if (isNoted === true) bytes += length;
      }
    }
    return bytes;
  }

  #groupOf(file: number, row: number): number {
    const { firsts } = this.#files[file]!;
    return lastUpTo(firsts, row, firsts.length - 1);
  }

  /** Number of a row in its row group. */
  #within(file: number, group: number, row: number): number {
    return row - this.#files[file]!.firsts[group]!;
  }

  /** The part that a row is in, whose pages are counted as far as that takes. */
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
      ? "; fetch or write the file again"
      : "";
    const [first, past] = error.isOfAll ? [] : rows ?? [];
    const which = first === undefined ? "" : ` (rows ${first} to ${past! - 1})`;
    return new FormatError(
      FAULTS[error.kind],
      `${path}: column '${
        columns[column]!.name
      }' of row group ${group}${which} ${error.message}${way}`,
      { path, sample: first, cause: error.cause ?? error },
    );
  }
}

/** The part that a row is in, if that is known. */
function partOf(
  { grid: { pages } }: ColumnState,
  within: number,
): number | undefined {
  return hasCounted(pages, within) ? pageWithRow(pages, within) : undefined;
}

/** The rows of a part. */
function rangeOf({ grid: { pages } }: ColumnState, part: number): RowRange {
  return { from: pages.firsts[part]!, to: pages.firsts[part + 1]! };
}
