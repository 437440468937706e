import { FormatError } from "../../base/errors.ts";
import { optionText } from "../../base/named_option.ts";
import type { Steps } from "../concurrency/steps.ts";
import type { CachedTables } from "../index_cache/tables_format.ts";
import { crc32Of } from "../read/crc32_of.ts";
import type { ByteSource } from "../storage/byte_source.ts";
import { WINDOW } from "./decoder.ts";
import {
  type Checkpoint,
  MemberReader,
  STREAM_START,
} from "./member_reader.ts";
import type { Method } from "./methods.ts";
import {
  PartColumns,
  type PartTable,
  type StreamIndex,
} from "./part_columns.ts";
import { layoutOf } from "./stream_layouts.ts";

/**
 * Decoded bytes between checkpoints, at least: as many times those that the last one takes, so that all take less than one
 * percent; within limits.
 */
const LEAST_INTERVAL = 1 << 20;
const MOST_INTERVAL = 1 << 22;
const INTERVAL_RATIO = 128;
/** Smallest decoded size, in bytes, of what counts as an entry: with fewer entries, an index is made in no time. */
export const ENTRY = 32;
/** Ratios up to this size in bytes are not judged: a header alone may have any. */
const LEAST_JUDGED = 1 << 20;

/** Receives the decoded parts of a stream that are too long to be decoded for each read. */
export interface LongParts {
  /** Longest part in bytes that is decoded for a read. */
  readonly most: number;
  /** Called with consecutive bytes of a part, from its start on. */
  put(part: number, offset: number, bytes: Uint8Array): void;
  /** Called at the end of a part, with its length. */
  end(part: number, length: number): void;
}

/** Limits of decoding. */
export interface DecodingLimits {
  /** Most decoded bytes for each encoded one. */
  readonly maxRatio?: number | undefined;
}

/** Decodes a stream once, and notes where parts of it begin. */
export class StreamIndexing {
  readonly #source: ByteSource;
  readonly #method: Method;
  readonly #leastInterval: number;
  #reader: MemberReader;
  readonly #parts: Parts;
  readonly #maxRatio: number;

  constructor(
    source: ByteSource,
    method: Method,
    { maxRatio = Infinity }: DecodingLimits,
    long?: LongParts,
    leastInterval = LEAST_INTERVAL,
  ) {
    this.#source = source;
    this.#method = method;
    this.#leastInterval = leastInterval;
    this.#parts = new Parts(long);
    this.#reader = this.#readerFrom(STREAM_START);
    this.#maxRatio = maxRatio;
  }

  /** Decoded bytes so far. */
  get size(): number {
    return this.#parts.columns.size;
  }

  /** Parts that have ended. */
  get parts(): PartColumns {
    return this.#parts.columns;
  }

  /** Drops what was decoded of the part that began last: {@linkcode StreamIndexing.next} begins it again. */
  restartPart(): void {
    this.#reader.close();
    this.#reader = this.#readerFrom(this.#parts.restart());
  }

  #readerFrom(from: Checkpoint): MemberReader {
    return new MemberReader(this.#source, this.#method, from, this.#interval);
  }

  get #interval(): number {
    const window = this.#parts.columns.windows.at(-1)?.length ?? 0;
    const interval = Math.min(INTERVAL_RATIO * window, MOST_INTERVAL);
    return Math.max(interval, this.#leastInterval);
  }

  /**
   * Decodes further, and returns the bytes, valid until the next call; `undefined` at the end.
   *
   * @throws {FormatError} If the stream is damaged or truncated, or its ratio is over the limit (`too-large`).
   */
  *next(): Steps<Uint8Array | undefined> {
    const reader = this.#reader;
    const piece = yield* reader.next();
    if (piece === undefined) return undefined;
    this.#parts.add(piece);
    const { size } = this;
    if (size > LEAST_JUDGED && size > this.#maxRatio * reader.packed) {
      throw tooLarge(this.#source, size, reader.packed, this.#maxRatio);
    }
    if (reader.checkpoint !== undefined) {
      this.#parts.end(reader.checkpoint);
      reader.interval = this.#interval;
    }
    return piece;
  }

  /** Returns the index, at the end. */
  finish(): StreamIndex {
    const index = this.#parts.finish(this.#reader.packed, this.#reader.junk);
    this.close();
    return index;
  }

  close(): void {
    this.#reader.close();
  }
}

/** Returns where parts of a stream begin, by decoding it once. Throws like {@linkcode StreamIndexing.next}. */
export function* indexStream(indexing: StreamIndexing): Steps<StreamIndex> {
  try {
    while ((yield* indexing.next()) !== undefined);
    return indexing.finish();
  } finally {
    indexing.close();
  }
}

/**
 * Returns where parts of a stream begin by its own table, if it has one.
 *
 * @throws {FormatError} If its ratio is over the limit (`too-large`).
 */
export function* declaredIndex(
  source: ByteSource,
  { compression }: Method,
  { maxRatio = Infinity }: DecodingLimits,
): Steps<StreamIndex | undefined> {
  const declared = yield* layoutOf(source, compression);
  if (declared === undefined) return undefined;
  const { size, junk } = declared;
  const packed = source.size - junk;
  if (size <= Math.max(LEAST_JUDGED, maxRatio * packed)) return declared;
  throw tooLarge(source, size, packed, maxRatio);
}

function tooLarge(
  { name }: ByteSource,
  size: number,
  packed: number,
  maxRatio: number,
): FormatError {
  const option = { name: "maxRatio" };
  return new FormatError(
    "too-large",
    `Cannot decompress ${name}: its first ${packed} bytes expand to ${size}, more than ${maxRatio} times as many. ` +
      `Raise ${optionText(option)} if it is meant to`,
    {
      path: name,
      expected: maxRatio,
      actual: size / packed,
      namedOptions: [option],
    },
  );
}

/** The parts of a stream while they are decoded. */
class Parts {
  readonly columns = new PartColumns();
  readonly #long: LongParts | undefined;
  /** The part that began last, as long as it may be decoded for a read. */
  #held: Uint8Array | undefined;
  #sum = 0;

  constructor(long: LongParts | undefined) {
    this.#long = long;
  }

  add(piece: Uint8Array): void {
    const { columns } = this;
    const done = columns.length;
    columns.size += piece.length;
    this.#sum = crc32Of(piece, this.#sum);
    const long = this.#long;
    if (long === undefined) return;
    if (done > long.most) return long.put(columns.count, done, piece);
    const length = done + piece.length;
    this.#held ??= new Uint8Array(long.most + piece.length);
    if (length > this.#held.length) {
      const held = this.#held;
      this.#held = new Uint8Array(length);
      this.#held.set(held.subarray(0, done));
    }
    this.#held.set(piece, done);
    if (length <= long.most) return;
    long.put(columns.count, 0, this.#held.subarray(0, length));
  }

  restart(): Checkpoint {
    const { columns } = this;
    columns.size = columns.start;
    this.#sum = 0;
    return columns.from;
  }

  end(next: Checkpoint): void {
    const { columns } = this;
    const { length } = columns;
    if (this.#long !== undefined && length > this.#long.most) {
      this.#long.end(columns.count, length);
    }
    columns.end(next, this.#sum);
    this.#sum = 0;
  }

  finish(packed: number, junk: number): StreamIndex {
    this.end({ ...STREAM_START, packed });
    return this.columns.finish(packed, junk, false);
  }
}

/** Returns where a part begins. Throws if its window, which was read from a cache, is damaged. */
export function checkpointOf(index: PartTable, part: number): Checkpoint {
  const { packed, spareBits } = index;
  // A copy, because zlib takes no shared memory.
  const deflated = "windowStarts" in index
    ? index.windows.slice(
      index.windowStarts[part],
      index.windowStarts[part + 1],
    )
    : index.windows[part]!;
  const window = deflated.length === 0
    ? deflated
    : process.getBuiltinModule("node:zlib")
      .inflateRawSync(deflated, { maxOutputLength: WINDOW });
  return { packed: packed[part]!, spareBits: spareBits[part]!, window };
}

/** Returns the part that contains an offset below the size. */
export function partAt({ starts }: PartTable, offset: number): number {
  let low = 0;
  let high = starts.length - 1;
  while (high - low > 1) {
    const middle = low + high >> 1;
    if (starts[middle]! <= offset) low = middle;
    else high = middle;
  }
  return low;
}

/** Returns the tables of an index, for a cache. */
export function tablesOf(
  { size, junk, isDeclared, ...columns }: StreamIndex,
): CachedTables {
  return { columns, facts: { size, junk, isDeclared } };
}

/** Returns where the part that has an entry begins, if each entry has as many decoded bytes. */
export function headerOf(index: StreamIndex, entry: number): number {
  return index.packed[partAt(index, entry * ENTRY)] ?? 0;
}

/** Returns the index of cached tables; `undefined` if they are not of this source. */
export function indexOf(
  source: ByteSource,
  { columns, facts, isForeign = false }: CachedTables,
): StreamIndex | undefined {
  const { size, junk, isDeclared } = facts as Partial<StreamIndex>;
  const index = { ...columns, size, junk, isDeclared } as StreamIndex;
  // What is declared has no checksums, by which a foreign index is compared with the file.
  const isUnproven = isForeign && isDeclared;
  return isValid(index, source) && !isUnproven ? index : undefined;
}

function isValid(index: StreamIndex, source: ByteSource): boolean {
  const { size, starts, packed, spareBits, sums, windows, windowStarts, junk } =
    index;
  const areColumns = starts instanceof Float64Array &&
    packed instanceof Float64Array && spareBits instanceof Uint8Array &&
    sums instanceof Uint32Array && windows instanceof Uint8Array &&
    windowStarts instanceof Float64Array;
  if (!areColumns) return false;
  const count = sums.length;
  return typeof index.isDeclared === "boolean" && Number.isSafeInteger(size) &&
    Number.isSafeInteger(junk) && junk >= 0 &&
    spareBits.length === count && spareBits.every((bits) => bits < 8) &&
    isAscending(starts, count, size) && starts[0] === 0 &&
    starts[count] === size &&
    isAscending(packed, count, source.size - junk) &&
    isAscending(windowStarts, count, windows.length) &&
    windowStarts[0] === 0 && windowStarts[count] === windows.length;
}

function isAscending(
  column: Float64Array,
  count: number,
  most: number,
): boolean {
  return column.length === count + 1 &&
    column.every((value, i) =>
      Number.isSafeInteger(value) && value >= (i === 0 ? 0 : column[i - 1]!) &&
      value <= most
    );
}
