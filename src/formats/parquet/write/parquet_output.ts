import { runAsync } from "../../../io/concurrency/steps.ts";
import type { WaitOptions } from "../../../io/storage/byte_source.ts";
import { NewFile } from "../../../io/write/new_file.ts";
import {
  loadWriter,
  type ParquetWriterLibrary,
  type WrittenElement,
} from "../read/library.ts";
import {
  RowGroupFile,
  type RowGroupOptions,
  sizeOf,
} from "./row_group_file.ts";

/** Column of a file to write. */
export interface ColumnToWrite {
  readonly name: string;
  /** Schema elements of the column in depth-first order; the first is the column itself. */
  readonly elements: readonly WrittenElement[];
  /** Whether values are contents, such as pictures, which are not compressed. */
  readonly isContent: boolean;
  /** Whether values are encoded JSON, of which the library would encode each once more. */
  readonly isJson: boolean;
}

/** Writes rows of values to one Parquet file. */
export class ParquetOutput extends RowGroupFile {
  readonly #columns: readonly ColumnToWrite[];
  /** Values of the current row group by column. */
  #values: unknown[][];

  private constructor(
    file: NewFile,
    columns: readonly ColumnToWrite[],
    library: ParquetWriterLibrary,
    options: RowGroupOptions,
  ) {
    super(file, library, options, {
      schema: [
        { name: "schema", num_children: columns.length },
        ...columns.flatMap(({ elements }) => elements as WrittenElement[]),
      ],
    });
    this.#columns = columns;
    this.#values = columns.map(() => []);
  }

  /**
   * Starts a file.
   *
   * @throws {WriteError} If it cannot be written.
   */
  static async open(
    path: string,
    columns: readonly ColumnToWrite[],
    options: RowGroupOptions,
  ): Promise<ParquetOutput> {
    const library = await loadWriter();
    const file = await runAsync(NewFile.create(path), options.signal);
    return new ParquetOutput(file, columns, library, options);
  }

  /** Adds a row: a value for each column, `undefined` or `null` if it has none. */
  async write(
    values: readonly unknown[],
    { signal }: WaitOptions,
  ): Promise<void> {
    let bytes = 0;
    for (const [i, value] of values.entries()) {
      this.#values[i]!.push(value ?? null);
      bytes += sizeOf(value);
    }
    await this.added(bytes, signal);
  }

  protected override writeGroup(rows: number): void {
    const values = this.#values;
    this.writer.write({
      columnData: this.#columns.map(({ name, isContent, isJson }, i) => ({
        name,
        data: values[i]!,
        statistics: !isContent && !isJson,
        ...isContent ? { codec: "UNCOMPRESSED", encoding: "PLAIN" } : {},
      })),
      rowGroupSize: rows,
    });
    this.#values = this.#columns.map(() => []);
  }

  protected override finish(): Uint8Array {
    for (const { isJson, elements: [element] } of this.#columns) {
      if (isJson) element!.converted_type = "JSON";
    }
    this.writer.finish();
    return this.buffer.getBytes();
  }
}
