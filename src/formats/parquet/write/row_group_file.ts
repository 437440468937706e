import { runAsync, type Steps } from "../../../io/concurrency/steps.ts";
import type { WaitOptions } from "../../../io/storage/byte_source.ts";
import { GatheredBytes } from "../../../io/write/gathered_bytes.ts";
import type { NewFile } from "../../../io/write/new_file.ts";
import type { ParquetWriterLibrary } from "../read/library.ts";

/** Maximum rows of a row group unless the user chooses, and the size in bytes at which one ends. */
const ROWS = 10_000;
const ROW_GROUP_BYTES = 64 << 20;

/** Options of a Parquet file to write. */
export interface RowGroupOptions extends WaitOptions {
  /** Maximum rows of a row group. */
  readonly rowGroup?: number | undefined;
}

type WriterOptions = ConstructorParameters<
  ParquetWriterLibrary["ParquetWriter"]
>[0];

/** A Parquet file that is written a row group at a time, and appears when it is closed. */
export abstract class RowGroupFile implements AsyncDisposable {
  protected readonly buffer: InstanceType<ParquetWriterLibrary["ByteWriter"]>;
  protected readonly writer: InstanceType<
    ParquetWriterLibrary["ParquetWriter"]
  >;
  readonly #file: NewFile;
  readonly #bytes: FileBytes;
  readonly #mostRows: number;
  #groupBytes = 0;
  #rows = 0;
  #length = 0;

  constructor(
    file: NewFile,
    { ByteWriter, ParquetWriter }: ParquetWriterLibrary,
    { rowGroup = ROWS }: RowGroupOptions,
    options: Omit<WriterOptions, "createdBy" | "writer">,
  ) {
    this.#file = file;
    this.#mostRows = rowGroup;
    this.#bytes = new FileBytes(file.file, 0);
    this.buffer = new ByteWriter();
    this.writer = new ParquetWriter({
      ...options,
      writer: this.buffer,
      createdBy: "recordfs",
    });
  }

  /** Number of rows so far. */
  get length(): number {
    return this.#length;
  }

  /** Bytes of the file so far, and of the values of the row group that is not written yet. */
  get size(): number {
    return this.#bytes.end + this.#groupBytes;
  }

  /** Writes the footer, waits until the file is on disk, and makes it appear. */
  async close({ signal }: WaitOptions): Promise<void> {
    if (this.#rows > 0) await this.#endGroup(signal);
    await runAsync(this.#bytes.put(this.finish()), signal);
    await runAsync(this.#bytes.complete(), signal);
    await runAsync(this.#file.file.sync(), signal);
    await runAsync(this.#file.publish(), signal);
  }

  // deno-lint-ignore require-await -- discarding is synchronous
  async [Symbol.asyncDispose](): Promise<void> {
    this.#file.discard();
  }

  /** Counts a row whose values were gathered, of so many bytes; ends the row group if it is full. */
  protected async added(
    bytes: number,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    this.#groupBytes += bytes;
    this.#rows++;
    this.#length++;
    const isFull = this.#rows >= this.#mostRows ||
      this.#groupBytes >= ROW_GROUP_BYTES;
    if (isFull) await this.#endGroup(signal);
  }

  /** Writes the gathered values of so many rows to the buffer as a row group, and forgets them. */
  protected abstract writeGroup(rows: number): void;

  /** Ends the file, and returns its last bytes. */
  protected abstract finish(): Uint8Array;

  async #endGroup(signal: AbortSignal | undefined): Promise<void> {
    this.writeGroup(this.#rows);
    this.#rows = this.#groupBytes = 0;
    await runAsync(this.#bytes.put(this.buffer.getBytes()), signal);
    this.buffer.index = 0;
  }
}

/** Bytes of a file that is written. */
class FileBytes extends GatheredBytes {
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
