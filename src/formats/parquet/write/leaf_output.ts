import { viewOf } from "../../../base/view_of.ts";
import * as zlib from "node:zlib";
import { runAsync } from "../../../io/concurrency/steps.ts";
import type { WaitOptions } from "../../../io/storage/byte_source.ts";
import { NewFile } from "../../../io/write/new_file.ts";
import { type Codec, MAGIC_SIZE, TAIL_SIZE } from "../layout.ts";
import { isFlat, type LeafEntries } from "../read/leaf_rows.ts";
import {
  loadColumnWriter,
  loadWriter,
  type ParquetWriterLibrary,
  type WrittenElement,
} from "../read/library.ts";
import type { StoredType } from "../values/schema.ts";
import { FileBytes, ROW_GROUP_BYTES, ROWS, sizeOf } from "./parquet_output.ts";
import { decodeThrift, encodeThrift, type ThriftStruct } from "./thrift.ts";

/** Leaf of a table to write. */
export interface LeafToWrite {
  readonly type: StoredType;
  readonly length: number | undefined;
  readonly codec: Codec;
  readonly maxDefinition: number;
  readonly maxRepetition: number;
  /** Elements from the root to the leaf: their names and repetitions. */
  readonly path: WrittenElement[];
}

/** Table to write. */
export interface TableToWrite {
  readonly leaves: readonly LeafToWrite[];
  /** Fields of the footer that stay as they are, such as the schema. */
  readonly footer: ThriftStruct;
}

/** Field number of `column_orders`, which are those of the columns. */
const ORDERS = 7;

type Compress = (bytes: Uint8Array) => Uint8Array;
type WriteColumn = Awaited<ReturnType<typeof loadColumnWriter>>;
type PageData = Parameters<WriteColumn>[0]["pageData"];
type Compressors = Parameters<WriteColumn>[0]["column"]["compressors"];

const COMPRESSORS: Readonly<Partial<Record<Codec, Compress>>> = {
  GZIP: (bytes) => zlib.gzipSync(bytes),
  BROTLI: (bytes) => zlib.brotliCompressSync(bytes),
  ZSTD: (bytes) => zlib.zstdCompressSync(bytes),
};

/** Returns the codec for pages of a column: its own, unless it cannot be written. */
export function writtenCodec(codec: Codec): Codec {
  const isWritten = codec === "UNCOMPRESSED" || COMPRESSORS[codec];
  return isWritten ? codec : "SNAPPY";
}

/** Values of the current row group in a leaf. */
interface Gathered {
  values: unknown[];
  repetition: number[];
  definition: number[];
}

/** Writes stored rows to one Parquet file, a row group at a time. The file appears when it is closed. */
export class LeafOutput implements AsyncDisposable {
  readonly #table: TableToWrite;
  readonly #file: NewFile;
  readonly #bytes: FileBytes;
  readonly #buffer: InstanceType<ParquetWriterLibrary["ByteWriter"]>;
  readonly #writer: InstanceType<ParquetWriterLibrary["ParquetWriter"]>;
  readonly #writeColumn: WriteColumn;
  readonly #mostRows: number;
  #leaves: Gathered[];
  #groupBytes = 0;
  #rows = 0;
  #length = 0;

  private constructor(
    file: NewFile,
    table: TableToWrite,
    mostRows: number,
    { ByteWriter, ParquetWriter }: ParquetWriterLibrary,
    writeColumn: WriteColumn,
  ) {
    this.#file = file;
    this.#table = table;
    this.#mostRows = mostRows;
    this.#bytes = new FileBytes(file.file, 0);
    this.#buffer = new ByteWriter();
    this.#writer = new ParquetWriter({
      writer: this.#buffer,
      schema: [{ name: "schema", num_children: 0 }], // replaced at the end
      createdBy: "recordfs",
      compressors: COMPRESSORS as Compressors,
    });
    this.#writeColumn = writeColumn;
    this.#leaves = table.leaves.map(noValues);
  }

  /**
   * Starts a file.
   *
   * @throws {WriteError} If it cannot be written.
   */
  static async open(
    path: string,
    table: TableToWrite,
    { rowGroup = ROWS, signal }: WaitOptions & {
      readonly rowGroup?: number | undefined;
    },
  ): Promise<LeafOutput> {
    const [library, column] = [await loadWriter(), await loadColumnWriter()];
    const file = await runAsync(NewFile.create(path), signal);
    return new LeafOutput(file, table, rowGroup, library, column);
  }

  /** Number of rows so far. */
  get length(): number {
    return this.#length;
  }

  /** Bytes of the file so far, and of the values of the row group that is not written yet. */
  get size(): number {
    return this.#bytes.end + this.#groupBytes;
  }

  /** Adds a row: for each leaf, a value or `null`, or {@linkcode LeafEntries}. */
  async write(
    row: readonly unknown[],
    { signal }: WaitOptions,
  ): Promise<void> {
    for (const [i, leaf] of this.#table.leaves.entries()) {
      this.#groupBytes += add(this.#leaves[i]!, leaf, row[i]);
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
    this.#writer.finish();
    const end = withFooter(this.#buffer.getBytes(), this.#table.footer);
    await runAsync(this.#bytes.put(end), signal);
    await runAsync(this.#bytes.complete(), signal);
    await runAsync(this.#file.file.sync(), signal);
    await runAsync(this.#file.publish(), signal);
  }

  // deno-lint-ignore require-await -- discarding is synchronous
  async [Symbol.asyncDispose](): Promise<void> {
    this.#file.discard();
  }

  async #endGroup(signal: AbortSignal | undefined): Promise<void> {
    const writer = this.#writer;
    const start = this.#buffer.offset;
    const columns = this.#table.leaves.map((leaf, i) =>
      this.#writeLeaf(leaf, this.#leaves[i]!)
    );
    const size = columns.reduce(
      (sum, { meta_data }) => sum + meta_data!.total_uncompressed_size,
      0n,
    );
    writer.num_rows += BigInt(this.#rows);
    writer.row_groups.push({
      columns,
      total_byte_size: size,
      num_rows: BigInt(this.#rows),
      total_compressed_size: BigInt(this.#buffer.offset - start),
    });
    this.#leaves = this.#table.leaves.map(noValues);
    this.#rows = this.#groupBytes = 0;
    await runAsync(this.#bytes.put(this.#buffer.getBytes()), signal);
    this.#buffer.index = 0;
  }

  #writeLeaf(
    { type, length, codec, path, maxDefinition }: LeafToWrite,
    { values, repetition, definition }: Gathered,
  ) {
    // Values stay as they are stored: their meaning is in the schema alone. Those of INT96 are read as 12 bytes.
    const isInt96 = type === "INT96";
    const element: WrittenElement = {
      name: path.at(-1)!.name,
      type: isInt96 ? "FIXED_LEN_BYTE_ARRAY" : type,
      ...isInt96
        ? { type_length: 12 }
        : length !== undefined && { type_length: length },
    };
    const pageData: PageData = {
      values: values as PageData["values"],
      definitionLevels: definition,
      repetitionLevels: repetition,
      maxDefinitionLevel: maxDefinition,
    };
    const written = this.#writeColumn({
      writer: this.#buffer,
      column: {
        columnName: path.slice(1).map(({ name }) => name).join("."),
        ...{ element, schemaPath: path, codec },
        compressors: this.#writer.compressors as Compressors,
        // Bounds would be in the order of stored values, which decimals, for one, do not have.
        stats: false,
        pageSize: 1 << 20,
        ...{ columnIndex: false, offsetIndex: true },
      },
      pageData,
    });
    this.#writer.pendingIndexes.push(written);
    if (isInt96) written.chunk.meta_data!.type = "INT96";
    return written.chunk;
  }
}

function noValues(): Gathered {
  return { values: [], repetition: [], definition: [] };
}

/** Adds a row of a leaf. Returns its bytes. */
function add(to: Gathered, leaf: LeafToWrite, row: unknown): number {
  const { maxDefinition, maxRepetition } = leaf;
  if (isFlat(leaf)) {
    to.values.push(row);
    if (maxDefinition > 0) to.definition.push(row === null ? 0 : 1);
    return sizeOf(row);
  }
  const { repetition, definition, values } = row as LeafEntries;
  let [bytes, next] = [0, 0];
  const count = maxDefinition > 0 ? definition.length : values.length;
  for (let i = 0; i < count; i++) {
    const isThere = maxDefinition === 0 || definition[i] === maxDefinition;
    const value = isThere ? values[next++] : null;
    to.values.push(value);
    if (maxDefinition > 0) to.definition.push(definition[i]!);
    if (maxRepetition > 0) to.repetition.push(repetition[i]!);
    bytes += sizeOf(value);
  }
  return bytes;
}

/** Replaces fields of the footer at the end of a file. */
function withFooter(end: Uint8Array, fields: ThriftStruct): Uint8Array {
  const view = viewOf(end);
  const tail = end.length - TAIL_SIZE;
  const start = tail - view.getUint32(tail, true);
  const made = decodeThrift(end.subarray(start, tail));
  made.delete(ORDERS);
  const all = [...new Map([...made, ...fields])].sort(([a], [b]) => a - b);
  const footer = encodeThrift(new Map(all));
  const bytes = new Uint8Array(start + footer.length + TAIL_SIZE);
  bytes.set(end.subarray(0, start));
  bytes.set(footer, start);
  new DataView(bytes.buffer).setUint32(
    start + footer.length,
    footer.length,
    true,
  );
  bytes.set(end.subarray(-MAGIC_SIZE), bytes.length - MAGIC_SIZE);
  return bytes;
}
