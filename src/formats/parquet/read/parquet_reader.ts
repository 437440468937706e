import {
  inBatches,
  isIndex,
  nameOfFiles,
  requireIndices,
} from "../../../tree/sample_indices.ts";
import { reopenSources } from "../../../io/storage/open_sources.ts";
import { RecordfsError } from "../../../base/errors.ts";
import { inParallel } from "../../../io/concurrency/concurrency_limit.ts";
import {
  runAsync,
  runSync,
  type Steps,
} from "../../../io/concurrency/steps.ts";
import type {
  ByteSource,
  WaitOptions,
} from "../../../io/storage/byte_source.ts";
import { lastingAt } from "../../../io/storage/place.ts";
import { LOCAL_DISK, type Storage } from "../../../io/storage/storage.ts";
import type { ContainerOptions } from "../../../tree/format.ts";
import { lastUpTo } from "../../../tree/shared_numbers.ts";
import { warnOnConsole } from "../../../base/message_text.ts";
import { type ParquetValue, valueOf } from "../values/render.ts";
import { CellReader } from "./cells.ts";
import {
  type OpenedFiles,
  openFiles,
  type ParquetFile,
  parquetPaths,
  RowTable,
} from "./parquet_files.ts";
import {
  differenceOf,
  type SharedColumn,
  sharedColumns,
} from "./shared_columns.ts";

/** How a {@linkcode ParquetReader} opens its files. */
export interface ParquetOptions extends
  Pick<
    ContainerOptions,
    "checkData" | "onWarning" | "remote" | "storage"
  > {
  /** Names of the columns that are read; all columns of all files, unless given. */
  readonly columns?: readonly string[] | undefined;
  /** Bytes of decoded pages that are kept, for rows that lie near each other. Defaults to 128 MiB. */
  readonly cacheSize?: number | undefined;
}

/** A row: its values by the names of their columns. */
export interface ParquetRow {
  /** A value of a column. */
  [column: string]: ParquetValue;
}

/** What another thread needs to open the files of a reader: it survives `postMessage`, without copying tables. */
export interface ParquetReaderHandle {
  /** The files, and their tables in shared memory. */
  readonly files: unknown;
  /** The options that they were opened with. */
  readonly options: Pick<ParquetOptions, "cacheSize" | "checkData" | "columns">;
}

/**
 * Reads rows of a Parquet file, or of several as one: those in a directory, or those that a pattern as
 * `train-?????-of-00010.parquet` names. Pages are decoded once for all rows in them that are asked for near each other.
 *
 * @example Read rows
 * ```ts
 * import { ParquetReader } from "@recordfs/recordfs/parquet";
 * import assert from "node:assert/strict";
 *
 * using reader = await ParquetReader.open("test/golden/parquet/pictures/pictures.parquet");
 * const { label, image } = await reader.read(2);
 * assert.equal(label, 2n);
 * console.log(image); // { bytes: Uint8Array, path: "picture_2.png" }
 *
 * for await (const rows of reader.batches({ batch: 4 })) console.log(rows.length);
 * ```
 */
export class ParquetReader implements Disposable {
  readonly #files: OpenedFiles;
  readonly #cells: CellReader;
  readonly #options: ParquetOptions;
  /** The columns that are read. */
  readonly #columns: readonly SharedColumn[];
  /** Where the files lie. */
  readonly storage: Storage;

  /** @ignore Readers are made by `open`. */
  constructor(files: OpenedFiles, storage: Storage, options: ParquetOptions) {
    this.#files = files;
    this.storage = storage;
    this.#options = options;
    const { sources, table } = files;
    const sourceOf = (file: number) => given(sources[file]!);
    const { checkData = true, cacheSize } = options;
    this.#cells = new CellReader(table.files, sourceOf, checkData, cacheSize);
    this.#columns = chosenColumns(table.files, options.columns);
  }

  /**
   * Opens files.
   *
   * @param location A file, the directory of several, or a pattern as `train-?????-of-00010.parquet`.
   * @throws {FormatError} If one is damaged or encrypted.
   * @throws {RecordfsError} With code `no-column` if no file has a column of a name among `columns`.
   */
  static async open(
    location: string | URL,
    options: ParquetOptions & WaitOptions = {},
  ): Promise<ParquetReader> {
    return await runAsync(openReader(location, options), options.signal);
  }

  /**
   * {@linkcode ParquetReader.open} without waiting: what decodes pages has to be loaded by then, as it is when any file
   * was opened before.
   *
   * @throws {RecordfsError} With code `must-wait` if it is not.
   */
  static openSync(
    location: string | URL,
    options: ParquetOptions = {},
  ): ParquetReader {
    return runSync(openReader(location, options));
  }

  /**
   * Opens the files of a reader in another thread, over the tables that it has read.
   *
   * @param handle What {@linkcode ParquetReader.share} gave.
   * @throws {FormatError} If a file is not the same any more.
   */
  static async openShared(
    { files, options }: ParquetReaderHandle,
    { storage = LOCAL_DISK, signal }:
      & Pick<ParquetOptions, "storage">
      & WaitOptions = {},
  ): Promise<ParquetReader> {
    const known = files as readonly ParquetFile[];
    const sources = await runAsync(reopenSources(storage, known), signal);
    const opened = { sources, table: new RowTable(known) };
    return new ParquetReader(opened, storage, options);
  }

  /** Describes the reader for {@linkcode ParquetReader.openShared}. */
  share(): ParquetReaderHandle {
    const { cacheSize, checkData, columns } = this.#options;
    return {
      files: this.#files.table.files,
      options: { cacheSize, checkData, columns },
    };
  }

  /** Number of rows. */
  get length(): number {
    return this.#files.table.length;
  }

  /** Names of the columns that are read. */
  get columns(): readonly string[] {
    return this.#columns.map(({ name }) => name);
  }

  /** Paths of the files, in their order. */
  get paths(): readonly string[] {
    return this.#files.table.files.map(({ path }) => path);
  }

  /**
   * Reads a row, or a batch of rows. Bytes in them are the caller's own.
   *
   * @param index From 0 to `length - 1`, or any number of such, in any order, repeats allowed.
   * @throws {IndexError} If there is no such row.
   * @throws {FormatError} If one is damaged.
   */
  read(index: number, options?: WaitOptions): Promise<ParquetRow>;
  /** Reads a batch of rows. */
  read(
    indices: Iterable<number>,
    options?: WaitOptions,
  ): Promise<ParquetRow[]>;
  async read(
    index: number | Iterable<number>,
    { signal }: WaitOptions = {},
  ): Promise<ParquetRow | ParquetRow[]> {
    const rows = await runAsync(this.#read(this.#required(index)), signal);
    return typeof index === "number" ? rows[0]! : rows;
  }

  /** {@linkcode ParquetReader.read} without waiting. */
  readSync(index: number): ParquetRow;
  /** Reads a batch of rows without waiting. */
  readSync(indices: Iterable<number>): ParquetRow[];
  readSync(index: number | Iterable<number>): ParquetRow | ParquetRow[] {
    const rows = runSync(this.#read(this.#required(index)));
    return typeof index === "number" ? rows[0]! : rows;
  }

  /**
   * All rows in their order, in batches.
   *
   * @param options How many are read in one go; 256 unless given.
   */
  batches(
    options: WaitOptions & { readonly batch?: number } = {},
  ): AsyncGenerator<ParquetRow[], void, undefined> {
    return inBatches(
      this.length,
      options,
      (indices, options) => this.read(indices, options),
    );
  }

  /**
   * Says that rows will be read soon: where the files lie on a server, their pages are fetched meanwhile, if it is
   * known by then where those are.
   *
   * @returns How many bytes are fetched, or have been; 0 where the files are local.
   */
  expect(indices: Iterable<number>): number {
    const { firsts } = this.#files.table;
    let bytes = 0;
    for (const index of indices) {
      if (!isIndex(index, this.length)) continue;
      const file = this.#files.table.fileOf(index);
      for (const { numbers } of this.#columns) {
        const column = numbers[file]!;
        if (column < 0) continue;
        bytes += this.#cells.expect(file, column, index - firsts[file]!);
      }
    }
    return bytes;
  }

  /**
   * The file that a row lies in.
   *
   * @throws {IndexError} If there is no such row.
   */
  fileOf(index: number): string {
    const [row] = this.#required(index);
    const { table } = this.#files;
    return table.files[table.fileOf(row!)]!.path;
  }

  /** Closes the files. What was read stays valid. */
  close(): void {
    for (const source of this.#files.sources) source.close();
  }

  /** Closes the files at the end of a `using` block. */
  [Symbol.dispose](): void {
    this.close();
  }

  *#read(indices: readonly number[]): Steps<ParquetRow[]> {
    const rows = indices.map(() => Object.create(null) as ParquetRow);
    // As they lie: those in one page come one after the other.
    const order = [...indices.keys()].sort((a, b) => indices[a]! - indices[b]!);
    // In the order of the columns, whichever comes first.
    for (const { name } of this.#columns) {
      for (const row of rows) row[name] = null;
    }
    yield* this.#fetch(indices);
    yield* inParallel(
      this.#columns.map((column) => this.#fill(rows, indices, order, column)),
    );
    return rows;
  }

  /** Has all pages fetched together that lie on a server: their decoding takes one after the other. */
  *#fetch(indices: readonly number[]): Steps<void> {
    const { sources, table } = this.#files;
    if (!sources.some(({ expect }) => expect !== undefined)) return;
    const places = new Map<string, Steps<void>>();
    for (const index of indices) {
      const file = table.fileOf(index);
      const row = index - table.firsts[file]!;
      const { firsts } = table.files[file]!;
      const group = lastUpTo(firsts, row, firsts.length - 1);
      for (const { numbers } of this.#columns) {
        const column = numbers[file]!;
        if (column < 0) continue;
        const key = `${file} ${group} ${column}`;
        if (!places.has(key)) places.set(key, this.#find(file, column, row));
      }
    }
    yield* inParallel([...places.values()]);
    this.expect(indices);
  }

  *#find(file: number, column: number, row: number): Steps<void> {
    yield* this.#cells.place(file, column, row);
  }

  *#fill(
    rows: readonly ParquetRow[],
    indices: readonly number[],
    order: readonly number[],
    { name, numbers }: SharedColumn,
  ): Steps<void> {
    const { table } = this.#files;
    for (const i of order) {
      const file = table.fileOf(indices[i]!);
      const column = numbers[file]!;
      if (column < 0) continue;
      const row = indices[i]! - table.firsts[file]!;
      const field = table.files[file]!.columns[column]!;
      const decoded = this.#cells.kept(file, column, row) ??
        (yield* this.#cells.decode(file, column, row));
      rows[i]![name] = valueOf(field, decoded.rows[row - decoded.first]);
    }
  }

  #required(index: number | Iterable<number>): readonly number[] {
    const path = () => nameOfFiles(this.paths);
    return requireIndices(index, this.length, path, "row");
  }
}

// deno-lint-ignore require-yield
function* given(source: ByteSource): Steps<ByteSource> {
  return source;
}

function* openReader(
  location: string | URL,
  options: ParquetOptions,
): Steps<ParquetReader> {
  const { path, storage } = lastingAt(location, options);
  const { paths } = yield* parquetPaths(path, storage);
  const { onWarning = warnOnConsole, columns } = options;
  const files = yield* openFiles(paths, storage, onWarning);
  try {
    const reader = new ParquetReader(files, storage, options);
    const { table } = files;
    const difference = columns === undefined
      ? differenceOf(table.files, sharedColumns(table.files))
      : undefined;
    if (difference !== undefined) onWarning(difference);
    return reader;
  } catch (error) {
    for (const source of files.sources) source.close();
    throw error;
  }
}

/** The columns that are read: those of the given names, or all. */
function chosenColumns(
  files: readonly ParquetFile[],
  chosen: readonly string[] | undefined,
): readonly SharedColumn[] {
  const all = sharedColumns(files);
  if (chosen === undefined) return all;
  return chosen.map((name) => {
    const column = all.find((one) => one.name === name);
    if (column !== undefined) return column;
    const path = nameOfFiles(files.map(({ path }) => path));
    const names = all.map(({ name }) => name).join(", ");
    throw new RecordfsError(
      "no-column",
      `${path} has no column '${name}': it has ${names}`,
      { path, actual: name },
    );
  });
}
