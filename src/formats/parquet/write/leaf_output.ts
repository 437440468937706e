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
import {
  RowGroupFile,
  type RowGroupOptions,
  sizeOf,
} from "./row_group_file.ts";
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

/** Writes rows as they are stored to one Parquet file. */
export class LeafOutput extends RowGroupFile {
  readonly #table: TableToWrite;
  readonly #writeColumn: WriteColumn;
  #leaves: Gathered[];

  private constructor(
    file: NewFile,
    table: TableToWrite,
    library: ParquetWriterLibrary,
    writeColumn: WriteColumn,
    options: RowGroupOptions,
  ) {
    super(file, library, options, {
      schema: [{ name: "schema", num_children: 0 }], // replaced at the end
      compressors: COMPRESSORS as Compressors,
    });
    this.#table = table;
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
    options: RowGroupOptions,
  ): Promise<LeafOutput> {
    const [library, column] = [await loadWriter(), await loadColumnWriter()];
    const file = await runAsync(NewFile.create(path), options.signal);
    return new LeafOutput(file, table, library, column, options);
  }

  /** Adds a row: for each leaf, a value or `null`, or {@linkcode LeafEntries}. */
  async write(
    row: readonly unknown[],
    { signal }: WaitOptions,
  ): Promise<void> {
    let bytes = 0;
    for (const [i, leaf] of this.#table.leaves.entries()) {
      bytes += add(this.#leaves[i]!, leaf, row[i]);
    }
    await this.added(bytes, signal);
  }

  protected override writeGroup(rows: number): void {
    const { writer } = this;
    const start = this.buffer.offset;
    const columns = this.#table.leaves.map((leaf, i) =>
      this.#writeLeaf(leaf, this.#leaves[i]!)
    );
    const size = columns.reduce(
      (sum, { meta_data }) => sum + meta_data!.total_uncompressed_size,
      0n,
    );
    writer.num_rows += BigInt(rows);
    writer.row_groups.push({
      columns,
      total_byte_size: size,
      num_rows: BigInt(rows),
      total_compressed_size: BigInt(this.buffer.offset - start),
    });
    this.#leaves = this.#table.leaves.map(noValues);
  }

  protected override finish(): Uint8Array {
    this.writer.finish();
    return withFooter(this.buffer.getBytes(), this.#table.footer);
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
      writer: this.buffer,
      column: {
        columnName: path.slice(1).map(({ name }) => name).join("."),
        ...{ element, schemaPath: path, codec },
        compressors: this.writer.compressors as Compressors,
        // Bounds would be in the order of stored values, which decimals, for one, do not have.
        stats: false,
        pageSize: 1 << 20,
        ...{ columnIndex: false, offsetIndex: true },
      },
      pageData,
    });
    this.writer.pendingIndexes.push(written);
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
