import { LruCache } from "../../io/block_cache/lru_cache.ts";
import type { Steps } from "../../io/concurrency/steps.ts";
import { Turns } from "../../io/concurrency/turns.ts";
import type { ByteSource } from "../../io/storage/byte_source.ts";
import { lastUpTo } from "../shared_numbers.ts";
import { cellError, CellFault } from "../../codecs/cells/cell_fault.ts";
import type { CellPlace, Cells, DecodedRows, RowFile } from "./row_format.ts";

/** Default maximum bytes of decoded rows cached. */
const MOST_KEPT = 128 << 20;
/** Maximum number of parts of a column of a group, for cache keys. */
export const MOST_PARTS = 2 ** 20;

/** A column of rows that are stored together. */
export interface ColumnPlace {
  readonly file: number;
  /** Index of the group of rows in the file, and of the column. */
  readonly group: number;
  readonly column: number;
}

/** Rows of a column that are decoded together. */
export interface Part {
  readonly number: number;
  /** First row in the group, and end of the last. */
  readonly from: number;
  readonly to: number;
}

/** Rows that have been decoded; they may be fewer than those of their part. */
export interface DecodedPart {
  readonly from: number;
  readonly rows: DecodedRows["rows"];
  /** Approximate bytes in memory. */
  readonly weight: number;
}

/**
 * Decodes cells by parts of columns of groups of rows. Decoded rows are cached (LRU) for their neighbours.
 *
 * @typeParam S What has to be loaded of a column before its parts are known.
 */
export abstract class GroupedCells<F extends RowFile, S> implements Cells {
  protected readonly files: readonly F[];
  protected readonly open: (file: number) => Steps<ByteSource>;
  readonly #kept: LruCache<DecodedRows>;
  /** Per file: number of columns of groups of all earlier files. */
  readonly #firsts: number[] = [0];
  /** Decoding in progress, by column of a group. */
  readonly #turns = new Turns();

  /**
   * @param open Returns the source of a file.
   * @param most Maximum bytes of decoded rows cached.
   */
  constructor(
    files: readonly F[],
    open: (file: number) => Steps<ByteSource>,
    most = MOST_KEPT,
  ) {
    this.files = files;
    this.open = open;
    this.#kept = new LruCache(most);
    for (const [i, { firsts, columns }] of files.entries()) {
      const count = (firsts.length - 1) * columns.length;
      this.#firsts.push(this.#firsts[i]! + count);
    }
  }

  /** What errors call a group of rows, such as `row group`. */
  protected abstract readonly groupName: string;
  /** Returns what is loaded of a column. */
  protected abstract loaded(place: ColumnPlace): S | undefined;
  /** Loads a column. */
  protected abstract load(place: ColumnPlace): Steps<S>;
  /** Returns the part of a row in the group, if it is known. */
  protected abstract knownPart(
    state: S,
    place: ColumnPlace,
    row: number,
  ): Part | undefined;
  /** Decodes a part, or as many of its rows around one as make sense. Throws `CellFault` if they are damaged. */
  protected abstract decodePart(
    state: S,
    place: ColumnPlace,
    part: Part,
    row: number,
  ): Steps<DecodedPart>;
  /** Prefetches a part. Returns the bytes. */
  protected abstract prefetchPart(
    state: S,
    place: ColumnPlace,
    part: Part,
  ): number;

  /** Finds the part of a row in the group, which is known unless a format looks for it. */
  // deno-lint-ignore require-yield -- others read
  protected *findPart(state: S, place: ColumnPlace, row: number): Steps<Part> {
    return this.knownPart(state, place, row)!;
  }

  /** Start rows of parts, as {@linkcode Cells.partsOf} returns them; one part unless a format has several. */
  // deno-lint-ignore require-yield -- others read
  protected *partsIn(
    _state: S,
    { file, group }: ColumnPlace,
  ): Steps<ArrayLike<number>> {
    const { firsts } = this.files[file]!;
    return [0, firsts[group + 1]! - firsts[group]!];
  }

  kept(file: number, column: number, row: number): DecodedRows | undefined {
    const place = this.#placeOf(file, column, row);
    const state = this.loaded(place);
    if (state === undefined) return undefined;
    const part = this.knownPart(state, place, this.#within(place, row));
    if (part === undefined) return undefined;
    const kept = this.#kept.get(this.#partKey(place, part));
    const isIn = kept !== undefined && row >= kept.first &&
      row < kept.first + kept.rows.length;
    return isIn ? kept : undefined;
  }

  *decode(file: number, column: number, row: number): Steps<DecodedRows> {
    const place = this.#placeOf(file, column, row);
    // What decodes the same column may produce the wanted rows.
    return yield* this.#turns.run(
      this.keyOf(place),
      () => this.kept(file, column, row),
      () => this.#decode(place, row),
    );
  }

  *#decode(place: ColumnPlace, row: number): Steps<DecodedRows> {
    const start = row - this.#within(place, row);
    let rows: readonly [number, number] | undefined;
    try {
      const state = yield* this.load(place);
      const part = yield* this.findPart(state, place, row - start);
      rows = [start + part.from, start + part.to];
      const made = yield* this.decodePart(state, place, part, row - start);
      const decoded = { first: start + made.from, rows: made.rows };
      this.#kept.set(this.#partKey(place, part), decoded, made.weight);
      return decoded;
    } catch (error) {
      throw this.#errorOf(error, place, rows);
    }
  }

  *place(file: number, column: number, row: number): Steps<CellPlace> {
    const place = this.#placeOf(file, column, row);
    const within = this.#within(place, row);
    try {
      const state = yield* this.load(place);
      const part = yield* this.findPart(state, place, within);
      const { number, from, to } = part;
      const key = this.keyOf(place);
      return {
        column: key,
        part: number,
        index: within - from,
        count: to - from,
      };
    } catch (error) {
      throw this.#errorOf(error, place);
    }
  }

  *partsOf(
    file: number,
    group: number,
    column: number,
  ): Steps<ArrayLike<number>> {
    const place = { file, group, column };
    const { firsts } = this.files[file]!;
    if (firsts[group] === firsts[group + 1]) return [0];
    try {
      return yield* this.partsIn(yield* this.load(place), place);
    } catch (error) {
      throw this.#errorOf(error, place);
    }
  }

  prefetch(file: number, column: number, row: number): number {
    const place = this.#placeOf(file, column, row);
    const state = this.loaded(place);
    if (state === undefined) return 0;
    const part = this.knownPart(state, place, this.#within(place, row));
    return part === undefined ? 0 : this.prefetchPart(state, place, part);
  }

  /** Returns the number of a column of a group of rows, among those of all files. */
  protected keyOf({ file, group, column }: ColumnPlace): number {
    const { columns } = this.files[file]!;
    return this.#firsts[file]! + group * columns.length + column;
  }

  #placeOf(file: number, column: number, row: number): ColumnPlace {
    const { firsts } = this.files[file]!;
    return { file, column, group: lastUpTo(firsts, row, firsts.length - 1) };
  }

  /** Returns the index of a row in its group. */
  #within({ file, group }: ColumnPlace, row: number): number {
    return row - this.files[file]!.firsts[group]!;
  }

  #partKey(place: ColumnPlace, { number }: Part): number {
    return this.keyOf(place) * MOST_PARTS + number;
  }

  #errorOf(
    error: unknown,
    { file, group, column }: ColumnPlace,
    rows?: readonly [number, number],
  ): unknown {
    if (!(error instanceof CellFault)) return error;
    const { path, columns } = this.files[file]!;
    const where = `${this.groupName} ${group}`;
    return cellError(error, path, columns[column]!.name, where, rows);
  }
}
