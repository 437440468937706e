import { messageOf, warnOnConsole } from "../../base/message_text.ts";
import { FormatError, RecordfsError } from "../../base/errors.ts";
import { inParallel } from "../../io/concurrency/concurrency_limit.ts";
import { ended, type Steps } from "../../io/concurrency/steps.ts";
import type { ByteSource } from "../../io/storage/byte_source.ts";
import { requireOpen } from "../../io/storage/closed.ts";
import { reopenSources } from "../../io/storage/open_sources.ts";
import type { Storage } from "../../io/storage/storage.ts";
import type { ContainerOptions } from "../format.ts";
import { nameOfFiles } from "../sample_indices.ts";
import { openKnownShards } from "../samples/open_shards.ts";
import type {
  PortableSamples,
  ReadSamplesOptions,
  Samples,
  SamplesHandle,
} from "../samples/samples.ts";
import { lastUpTo } from "../shared_numbers.ts";
import type { CellField } from "../../codecs/cells/cell_field.ts";
import { columnType } from "../../codecs/cells/column_type.ts";
import {
  type CellValue,
  exactOf,
  valueOf,
} from "../../codecs/cells/render_cell.ts";
import { ShardTable } from "../samples/shard_table.ts";
import { sharedSuffix } from "./found_suffix.ts";
import { type PortableColumn, portableColumn } from "./portable_column.ts";
import {
  type Cells,
  type DecodedRows,
  type RowFile,
  type RowFormat,
  rowsOf,
} from "./row_format.ts";
import { type SharedColumn, sharedColumns } from "./shared_columns.ts";

/** Row: values by column name. */
export interface TableRow {
  /** Value of a column. */
  [column: string]: CellValue;
}

/** How rows are read. */
interface RowOptions
  extends Pick<ContainerOptions, "checkData" | "pageCacheSize"> {
  /** Whether floats that are whole are a `MsgpackFloat` in lists and structures. */
  readonly keepFloats?: boolean | undefined;
}

/** What other threads make the samples of. */
interface Seed<F extends RowFile> {
  readonly files: readonly F[];
  readonly options: RowOptions;
}

/**
 * Rows of files as samples. Rows are decoded when they are read, so caller-provided byte memory is not used.
 */
export class RowSamples<F extends RowFile = RowFile>
  implements Samples<TableRow, TableRow> {
  readonly unit = "row";
  readonly stores = "fields";
  readonly shards: ShardTable<F>;
  readonly storage: Storage;
  readonly sources: readonly ByteSource[];
  readonly fields: readonly SharedColumn[];
  readonly #byName: ReadonlyMap<string, SharedColumn>;
  readonly #options: RowOptions;
  readonly #valueOf: typeof valueOf;
  readonly #format: RowFormat<F>;
  readonly #cells: Cells;
  #isClosed = false;

  constructor(
    format: RowFormat<F>,
    sources: readonly ByteSource[],
    shards: ShardTable<F>,
    storage: Storage,
    options: RowOptions,
  ) {
    const { checkData = true, pageCacheSize, keepFloats } = options;
    this.#format = format;
    this.sources = sources;
    this.shards = shards;
    this.storage = storage;
    this.#options = { checkData, pageCacheSize, keepFloats };
    this.#valueOf = keepFloats === true ? exactOf : valueOf;
    const sourceOf = (file: number) => ended(sources[file]!);
    this.#cells = format.cells(
      shards.shards,
      sourceOf,
      checkData,
      pageCacheSize,
    );
    this.fields = sharedColumns(shards.shards);
    this.#byName = new Map(this.fields.map((field) => [field.name, field]));
  }

  *read(
    indices: readonly number[],
    { fields }: ReadSamplesOptions,
  ): Steps<TableRow[]> {
    // Cached pages would otherwise still be readable.
    requireOpen(nameOfFiles(this.shards.paths), this.#isClosed);
    const columns = this.#chosen(fields);
    const rows = indices.map(() => Object.create(null) as TableRow);
    // Sorted by location, so that rows of a page are decoded together.
    const order = [...indices.keys()].sort((a, b) => indices[a]! - indices[b]!);
    // In column order, whichever is decoded first.
    for (const { name } of columns) {
      for (const row of rows) row[name] = null;
    }
    yield* this.#fetch(indices, columns);
    yield* inParallel(
      columns.map((column) => this.#fill(rows, indices, order, column)),
    );
    return rows;
  }

  decode(_index: number, row: TableRow): TableRow {
    return row;
  }

  *portable(): Steps<PortableSamples<TableRow>> {
    const exact = new RowSamples(
      this.#format,
      this.sources,
      this.shards,
      this.storage,
      { ...this.#options, keepFloats: true },
    );
    const columns: PortableColumn[] = [];
    for (const column of this.fields) {
      const schema = this.#schemaOf(column);
      const { numbers } = column;
      const suffix = yield* sharedSuffix(
        this.shards.shards,
        numbers,
        exact.#cells,
      );
      const type = columnType(schema, suffix);
      columns.push(portableColumn({ ...column, type }, schema));
    }
    return {
      fields: columns.map(({ field }) => field),
      isNullable: true,
      read: (indices, options) => exact.read(indices, options),
      decode: (index, row) => {
        const values: Record<string, unknown> = Object.create(null);
        for (const { field: { name }, valueOf } of columns) {
          if (!(name in row)) continue;
          const cell = row[name]!;
          try {
            values[name] = cell === null ? null : valueOf(cell);
          } catch (cause) {
            throw this.#badValue(index, name, cause);
          }
        }
        return values;
      },
    };
  }

  /** Prefetches pages whose locations are known. */
  prefetch(
    indices: readonly number[],
    { fields }: ReadSamplesOptions,
  ): number {
    return this.#prefetch(indices, this.#chosen(fields));
  }

  share(): SamplesHandle {
    const data: Seed<F> = { files: this.shards.shards, options: this.#options };
    return { module: this.#format.module, data };
  }

  close(): void {
    this.#isClosed = true;
    for (const source of this.sources) source.close();
  }

  /** Columns by their names, or all. */
  #chosen(names: readonly string[] | undefined): readonly SharedColumn[] {
    return names?.map((name) =>
      this.#byName.get(name) ?? this.#noColumn(name)
    ) ?? this.fields;
  }

  /** Returns the schema of a column in the first file that has it. */
  #schemaOf({ numbers }: SharedColumn): CellField {
    const file = numbers.findIndex((number) => number >= 0);
    return this.shards.shards[file]!.columns[numbers[file]!]!;
  }

  #badValue(index: number, column: string, cause: unknown): FormatError {
    const { path } = this.shards.of(index);
    const row = this.shards.numberOf(index);
    return new FormatError(
      "bad-value",
      `Cannot decode '${column}' of row ${row} of ${path}: ` +
        `${messageOf(cause)}`,
      { path, sample: row, cause },
    );
  }

  #noColumn(column: string): never {
    const path = this.shards.name;
    const names = this.fields.map(({ name }) => name).join(", ");
    throw new RecordfsError(
      "no-column",
      `Cannot read column '${column}' of ${path}: there is no such ` +
        `column, only ${names}`,
      { path, actual: column },
    );
  }

  #prefetch(
    indices: readonly number[],
    columns: readonly SharedColumn[],
  ): number {
    let bytes = 0;
    for (const index of indices) {
      const file = this.shards.shardOf(index);
      const row = index - this.shards.firsts[file]!;
      for (const { numbers } of columns) {
        const column = numbers[file]!;
        if (column >= 0) bytes += this.#cells.prefetch(file, column, row);
      }
    }
    return bytes;
  }

  /**
   * Prefetches the pages of all columns at once if the files are remote, because decoding requests them sequentially.
   */
  *#fetch(
    indices: readonly number[],
    columns: readonly SharedColumn[],
  ): Steps<void> {
    if (!this.sources.some(({ prefetch }) => prefetch !== undefined)) return;
    const { shards, firsts } = this.shards;
    const places = new Map<string, Steps<unknown>>();
    for (const index of indices) {
      const file = this.shards.shardOf(index);
      const row = index - firsts[file]!;
      const groups = shards[file]!.firsts;
      const group = lastUpTo(groups, row, groups.length - 1);
      for (const { numbers } of columns) {
        const column = numbers[file]!;
        const key = `${file} ${group} ${column}`;
        if (column < 0 || places.has(key)) continue;
        places.set(key, this.#cells.place(file, column, row));
      }
    }
    yield* inParallel([...places.values()]);
    this.#prefetch(indices, columns);
  }

  *#fill(
    rows: readonly TableRow[],
    indices: readonly number[],
    order: readonly number[],
    { name, numbers }: SharedColumn,
  ): Steps<void> {
    const { shards, firsts } = this.shards;
    let decoded: DecodedRows | undefined;
    let last = -1;
    for (const i of order) {
      const file = this.shards.shardOf(indices[i]!);
      const column = numbers[file]!;
      if (column < 0) continue;
      const row = indices[i]! - firsts[file]!;
      const field = shards[file]!.columns[column]!;
      // Neighbours were decoded with the row before.
      const isIn = decoded !== undefined && file === last &&
        row >= decoded.first && row < decoded.first + decoded.rows.length;
      if (!isIn) {
        decoded = this.#cells.kept(file, column, row) ??
          (yield* this.#cells.decode(file, column, row));
        last = file;
      }
      const stored = decoded!.rows.at(row - decoded!.first);
      rows[i]![name] = this.#valueOf(field, stored);
    }
  }
}

/**
 * Opens files in order. Of several, damaged ones are skipped.
 *
 * @throws {FormatError} If one is encrypted, or the only one is damaged, or all are.
 */
export function* openRowSamples<F extends RowFile>(
  format: RowFormat<F>,
  paths: readonly string[],
  storage: Storage,
  options: ContainerOptions,
): Steps<RowSamples<F>> {
  const { onWarning = warnOnConsole } = options;
  yield* format.load();
  const opened = yield* openKnownShards(
    storage,
    paths,
    (source) => format.look(source, onWarning, options),
  );
  const { sources } = opened;
  const table = new ShardTable(
    opened.shards as unknown as readonly F[],
    rowsOf,
    opened.lost,
  );
  const { checkData, pageCacheSize } = options;
  return new RowSamples(format, sources, table, storage, {
    checkData,
    pageCacheSize,
  });
}

/** Opens files that another thread has opened, sharing its tables. */
export function* reopenRowSamples<F extends RowFile>(
  format: RowFormat<F>,
  data: unknown,
  storage: Storage,
): Steps<RowSamples<F>> {
  const { files, options } = data as Seed<F>;
  yield* format.load();
  const sources = yield* reopenSources(storage, files);
  const table = new ShardTable(files, rowsOf);
  return new RowSamples(format, sources, table, storage, options);
}
