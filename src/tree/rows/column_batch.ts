import { CellFault } from "../../codecs/cells/cell_fault.ts";
import {
  type ArrayCursor,
  cursorAfter,
  START,
} from "../../codecs/columnar/array_cursor.ts";
import type { Batch } from "../../codecs/columnar/messages.ts";
import {
  type DictionaryValues,
  type ReadArray,
  readArray,
} from "../../codecs/columnar/read_array.ts";
import type { ArrowField } from "../../codecs/columnar/schema.ts";
import { decompressed } from "../../io/block_cache/inflate.ts";
import { decompressLz4Frame } from "../../io/block_cache/lz4_frame.ts";
import type { Steps } from "../../io/concurrency/steps.ts";
import {
  type NearRanges,
  nearRanges,
  SpanReader,
} from "../../io/read/near_ranges.ts";
import type { ByteSource } from "../../io/storage/byte_source.ts";

/** Columns up to this size are read as a whole, and larger ones in parts of about this size, in bytes. */
export const PART = 1 << 20;
/** Maximum bytes of a buffer that is decompressed. */
const LARGEST = 512 << 20;
/** Bytes of the size before a compressed buffer; -1 if it is stored as it is. */
const SIZE = 8;

/** A column of a batch. */
interface BatchColumn {
  readonly cursor: ArrayCursor;
  /** Its buffers in the file. */
  readonly ranges: NearRanges;
  /** Whether they are read together: if they are small, or needed as a whole to be decompressed. */
  readonly isWhole: boolean;
}

/** A batch of columns in a source, whose metadata fits its fields and its body. */
export interface ColumnBatch extends Batch {
  readonly source: ByteSource;
  /** Offset of its body in the source. */
  readonly body: number;
  readonly columns: readonly BatchColumn[];
}

/** Compares the metadata of a batch with its fields and its body. Throws `CellFault` if they do not fit. */
export function columnBatch(
  source: ByteSource,
  batch: Batch,
  [body, bodyLength]: readonly [offset: number, length: number],
  fields: readonly ArrowField[],
): ColumnBatch {
  const { nodes, buffers, views, compression } = batch;
  for (const [offset, length] of buffers) {
    if (!(offset >= 0 && length >= 0 && offset + length <= bodyLength)) {
      throw new CellFault("has a buffer outside of its batch");
    }
  }
  let cursor = START;
  const columns = fields.map((field): BatchColumn => {
    const from = cursor;
    cursor = cursorAfter(field, batch, from);
    const ranges = nearRanges(
      buffers.slice(from.buffer, cursor.buffer)
        .map(([offset, length]) => [body + offset, length]),
    );
    const isSmall = compression !== undefined || ranges.length <= PART;
    return { cursor: from, ranges, isWhole: isSmall && ranges.areNear };
  });
  const { node, buffer, view } = cursor;
  const isFit = node === nodes.length && buffer === buffers.length &&
    view === views.length;
  if (isFit) return { ...batch, source, body, columns };
  throw new CellFault("has other arrays than the schema says");
}

/**
 * Reads a range of the values of a column of a batch. Throws `CellFault` if they are damaged.
 *
 * @param number Index of the column.
 * @param dictionaryOf Returns the values by whose indices a field is stored.
 */
export function* readColumn(
  batch: ColumnBatch,
  field: ArrowField,
  number: number,
  [from, to]: readonly [from: number, to: number],
  dictionaryOf: (field: ArrowField) => Steps<DictionaryValues>,
): Steps<ReadArray> {
  const column = batch.columns[number]!;
  const buffers = new BatchBuffers(batch, column);
  const reading = readArray(field, batch, column.cursor, from, to);
  let step = reading.next();
  while (!step.done) {
    const request = step.value;
    step = reading.next(
      "buffer" in request
        ? yield* buffers.read(request.buffer, request.from, request.to)
        : yield* dictionaryOf(request.dictionary),
    );
  }
  return step.value;
}

/** Reads the buffers of a column of a batch. */
class BatchBuffers {
  readonly #batch: ColumnBatch;
  readonly #stored: SpanReader;
  readonly #decompressed = new Map<number, Uint8Array>();

  constructor(batch: ColumnBatch, { ranges, isWhole }: BatchColumn) {
    this.#batch = batch;
    this.#stored = new SpanReader(batch.source, isWhole ? ranges : undefined);
  }

  /** Reads bytes of a buffer. Throws `CellFault` if it has not so many. */
  *read(buffer: number, from: number, to: number): Steps<Uint8Array> {
    const { buffers, compression, body } = this.#batch;
    const [offset, length] = buffers[buffer]!;
    const bytes = compression && (yield* this.#decompress(buffer, compression));
    const count = bytes?.length ?? length;
    if (to > count) {
      throw new CellFault(
        `has a buffer of ${count} bytes, and at least ${to} are needed`,
      );
    }
    return bytes?.subarray(from, to) ??
      (yield* this.#stored.read(body + offset + from, to - from));
  }

  *#decompress(
    buffer: number,
    compression: NonNullable<Batch["compression"]>,
  ): Steps<Uint8Array> {
    const known = this.#decompressed.get(buffer);
    if (known !== undefined) return known;
    const { buffers, body } = this.#batch;
    const [offset, length] = buffers[buffer]!;
    if (length === 0) return new Uint8Array(0);
    if (length < SIZE) throw new CellFault("has a buffer without its size");
    const stored = yield* this.#stored.read(body + offset, length);
    const view = new DataView(stored.buffer, stored.byteOffset, SIZE);
    const size = Number(view.getBigInt64(0, true));
    const content = stored.subarray(SIZE);
    const bytes = size === -1
      ? content
      : yield* decompress(content, compression.codec, size);
    this.#decompressed.set(buffer, bytes);
    return bytes;
  }
}

function* decompress(
  bytes: Uint8Array,
  codec: number,
  size: number,
): Steps<Uint8Array> {
  if (size < 0 || size > LARGEST) {
    throw new CellFault(
      `has a buffer of ${size} bytes, and the limit is ${LARGEST}. Write it in smaller batches`,
      "too-large",
    );
  }
  if (size === 0) return new Uint8Array(0);
  const fault = (why: string, cause?: unknown) =>
    new CellFault(why, "damaged", cause);
  if (codec === 0) return decompressLz4Frame(bytes, size, fault);
  if (codec === 1) {
    const made = yield* decompressed(bytes, "zstd", size, fault);
    // Not a `Buffer` of Node.js, whose `slice` does not copy.
    return new Uint8Array(made.buffer, made.byteOffset, made.length);
  }
  throw new CellFault("is compressed by an unknown codec", "unsupported");
}
