import { runAsync, type Steps } from "../../../io/concurrency/steps.ts";
import type { WaitOptions } from "../../../io/storage/byte_source.ts";
import { GatheredBytes } from "../../../io/write/gathered_bytes.ts";
import { NewFile } from "../../../io/write/new_file.ts";
import {
  loadWriter,
  type ParquetWriterLibrary as Library,
  type WrittenElement,
} from "../read/library.ts";

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

/** Maximum rows of a row group unless the user chooses, and the size in bytes at which one ends. */
export const ROWS = 10_000;
export const ROW_GROUP_BYTES = 64 << 20;

/** Writes rows to one Parquet file, a row group at a time. The file appears when it is closed. */
export class ParquetOutput implements AsyncDisposable {
  readonly #columns: readonly ColumnToWrite[];
  readonly #file: NewFile;
  readonly #bytes: FileBytes;
  readonly #buffer: InstanceType<Library["ByteWriter"]>;
  readonly #writer: InstanceType<Library["ParquetWriter"]>;
  readonly #mostRows: number;
  /** Values of the current row group by column. */
  #values: unknown[][];
  #groupBytes = 0;
  #rows = 0;
  #length = 0;

  private constructor(
    file: NewFile,
    columns: readonly ColumnToWrite[],
    mostRows: number,
    { ByteWriter, ParquetWriter }: Library,
  ) {
    this.#columns = columns;
    this.#file = file;
    this.#bytes = new FileBytes(file.file, 0);
    this.#buffer = new ByteWriter();
    this.#mostRows = mostRows;
    this.#writer = new ParquetWriter({
      writer: this.#buffer,
      schema: [
        { name: "schema", num_children: columns.length },
        ...columns.flatMap(({ elements }) => elements as WrittenElement[]),
      ],
      createdBy: "recordfs",
    });
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
    { rowGroup = ROWS, signal }: WaitOptions & {
      readonly rowGroup?: number | undefined;
    },
  ): Promise<ParquetOutput> {
    const library = await loadWriter();
    const file = await runAsync(NewFile.create(path), signal);
    return new ParquetOutput(file, columns, rowGroup, library);
  }

  /** Number of rows so far. */
  get length(): number {
    return this.#length;
  }

  /** Bytes of the file so far, and of the values of the row group that is not written yet. */
  get size(): number {
    return this.#bytes.end + this.#groupBytes;
  }

  /** Adds a row: a value for each column, `undefined` or `null` if it has none. */
  async write(
    values: readonly unknown[],
    { signal }: WaitOptions,
  ): Promise<void> {
    for (const [i, value] of values.entries()) {
      this.#values[i]!.push(value ?? null);
      this.#groupBytes += sizeOf(value);
    }
    this.#rows++;
    this.#length++;
    const isFull = this.#rows >= this.#mostRows ||
      this.#groupBytes >= ROW_GROUP_BYTES;
    if (isFull) await this.#endGroup(signal);
  }

  /** Writes the footer, waits until the file is on disk, and makes it appear. */
  async close({ signal }: WaitOptions): Promise<void> {
    if (this.#rows > 0) await this.#endGroup(signal);
    for (const { isJson, elements: [element] } of this.#columns) {
      if (isJson) element!.converted_type = "JSON";
    }
    this.#writer.finish();
    await this.#writeOut(signal);
    await runAsync(this.#bytes.complete(), signal);
    await runAsync(this.#file.file.sync(), signal);
    await runAsync(this.#file.publish(), signal);
  }

  // deno-lint-ignore require-await -- discarding is synchronous
  async [Symbol.asyncDispose](): Promise<void> {
    this.#file.discard();
  }

  async #endGroup(signal: AbortSignal | undefined): Promise<void> {
    const values = this.#values;
    this.#writer.write({
      columnData: this.#columns.map(({ name, isContent, isJson }, i) => ({
        name,
        data: values[i]!,
        statistics: !isContent && !isJson,
        ...isContent ? { codec: "UNCOMPRESSED", encoding: "PLAIN" } : {},
      })),
      rowGroupSize: this.#rows,
    });
    this.#values = this.#columns.map(() => []);
    this.#rows = this.#groupBytes = 0;
    await this.#writeOut(signal);
  }

  async #writeOut(signal: AbortSignal | undefined): Promise<void> {
    await runAsync(this.#bytes.put(this.#buffer.getBytes()), signal);
    this.#buffer.index = 0;
  }
}

/** Bytes of a file that is written. */
export class FileBytes extends GatheredBytes {
  put(bytes: Uint8Array): Steps<unknown> {
    return this.appendSummed(bytes, () => 0, 0, "row group");
  }
}

/** Estimates the bytes of a value in memory. */
export function sizeOf(value: unknown): number {
  if (typeof value === "string") return value.length;
  if (value instanceof Uint8Array) return value.byteLength;
  if (!Array.isArray(value)) return 8;
  return value.reduce((sum: number, item) => sum + sizeOf(item), 8);
}
