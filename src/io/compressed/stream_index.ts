import { FormatError } from "../../base/errors.ts";
import { optionText } from "../../base/named_option.ts";
import type { Steps } from "../concurrency/steps.ts";
import type { CachedTables } from "../index_cache/cached_tables.ts";
import { newSharedMemory } from "../libc/new_memory.ts";
import { crc32Of } from "../read/crc32_of.ts";
import type { ByteSource } from "../storage/byte_source.ts";
import { WINDOW } from "./decoder.ts";
import {
  type Checkpoint,
  MemberReader,
  STREAM_START,
} from "./member_reader.ts";
import type { Method } from "./methods.ts";

/** Decoded bytes between checkpoints, at least. */
const INTERVAL = 1 << 22;
/** Ratios up to this size in bytes are not judged: a header alone may have any. */
const LEAST_JUDGED = 1 << 20;

/**
 * Where parts of a compressed stream begin, each of which can be decoded by itself; in memory that threads share. All
 * columns have an entry for each part, and `starts` and `windowStarts` one more.
 */
export interface StreamIndex {
  /** Decoded size in bytes. */
  readonly size: number;
  /** Decoded bytes before each part. */
  readonly starts: Float64Array;
  /** Encoded bytes before each part, and before the end of the last. */
  readonly packed: Float64Array;
  /** Bits of the last of these bytes that belong to the part. */
  readonly spareBits: Uint8Array;
  /** CRC-32 of each part. */
  readonly sums: Uint32Array;
  /** Deflated windows, one after the other. */
  readonly windows: Uint8Array;
  readonly windowStarts: Float64Array;
  /** Bytes behind the stream that do not belong to it. */
  readonly junk: number;
}

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

/**
 * Decodes a stream once, and notes where parts of it begin.
 *
 * @throws {FormatError} If it is damaged or truncated, or its ratio is over the limit (`too-large`).
 */
export function* indexStream(
  source: ByteSource,
  method: Method,
  { maxRatio = Infinity }: DecodingLimits,
  long?: LongParts,
): Steps<StreamIndex> {
  const reader = new MemberReader(source, method, STREAM_START, INTERVAL);
  const parts = new Parts(long);
  try {
    for (;;) {
      const piece = yield* reader.next();
      if (piece === undefined) break;
      parts.add(piece);
      const { size } = parts;
      if (size > LEAST_JUDGED && size > maxRatio * reader.packed) {
        throw tooLarge(source, size, reader.packed, maxRatio);
      }
      if (reader.checkpoint !== undefined) parts.end(reader.checkpoint);
    }
    return parts.finish(reader.packed, reader.junk);
  } finally {
    reader.close();
  }
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

/** Columns of an index while it grows. */
class Parts {
  size = 0;
  readonly #starts: number[] = [];
  readonly #packed: number[] = [];
  readonly #spareBits: number[] = [];
  readonly #sums: number[] = [];
  readonly #windows: Uint8Array[] = [];
  readonly #long: LongParts | undefined;
  /** The part that began last, as long as it may be decoded for a read. */
  #held: Uint8Array | undefined;
  #start = 0;
  #from = STREAM_START;
  #sum = 0;

  constructor(long: LongParts | undefined) {
    this.#long = long;
  }

  add(piece: Uint8Array): void {
    const done = this.size - this.#start;
    this.size += piece.length;
    this.#sum = crc32Of(piece, this.#sum);
    const long = this.#long;
    if (long === undefined) return;
    const number = this.#starts.length;
    if (done > long.most) return long.put(number, done, piece);
    this.#held ??= new Uint8Array(long.most + piece.length);
    if (done + piece.length > this.#held.length) {
      const held = this.#held;
      this.#held = new Uint8Array(done + piece.length);
      this.#held.set(held.subarray(0, done));
    }
    this.#held.set(piece, done);
    const length = done + piece.length;
    if (length <= long.most) return;
    long.put(number, 0, this.#held.subarray(0, length));
  }

  end(next: Checkpoint): void {
    const length = this.size - this.#start;
    if (length === 0) return;
    if (this.#long !== undefined && length > this.#long.most) {
      this.#long.end(this.#starts.length, length);
    }
    this.#starts.push(this.#start);
    this.#packed.push(this.#from.packed);
    this.#spareBits.push(this.#from.spareBits);
    this.#sums.push(this.#sum);
    this.#windows.push(deflated(this.#from.window));
    this.#start = this.size;
    this.#from = next;
    this.#sum = 0;
  }

  finish(packed: number, junk: number): StreamIndex {
    this.end({ ...STREAM_START, packed });
    const windowStarts = [0];
    for (const { length } of this.#windows) {
      windowStarts.push(windowStarts.at(-1)! + length);
    }
    const windows = new Uint8Array(newSharedMemory(windowStarts.at(-1)!));
    for (const [i, window] of this.#windows.entries()) {
      windows.set(window, windowStarts[i]!);
    }
    return {
      size: this.size,
      starts: shared([...this.#starts, this.size]),
      packed: shared([...this.#packed, packed]),
      spareBits: new Uint8Array(sharedCopy(Uint8Array.from(this.#spareBits))),
      sums: new Uint32Array(sharedCopy(Uint32Array.from(this.#sums))),
      windows,
      windowStarts: shared(windowStarts),
      junk,
    };
  }
}

function shared(numbers: readonly number[]): Float64Array {
  return new Float64Array(sharedCopy(Float64Array.from(numbers)));
}

function sharedCopy(
  column: Uint8Array | Uint32Array | Float64Array,
): SharedArrayBuffer {
  const memory = newSharedMemory(column.byteLength);
  const { buffer, byteOffset, byteLength } = column;
  new Uint8Array(memory).set(new Uint8Array(buffer, byteOffset, byteLength));
  return memory;
}

function zlib(): typeof import("node:zlib") {
  return process.getBuiltinModule("node:zlib");
}

function deflated(window: Uint8Array): Uint8Array {
  return window.length === 0 ? window : zlib().deflateRawSync(window);
}

/** Returns where a part begins. Throws if its window, which was read from a cache, is damaged. */
export function checkpointOf(index: StreamIndex, part: number): Checkpoint {
  const { packed, spareBits, windows, windowStarts } = index;
  // A copy, because zlib takes no shared memory.
  const deflated = windows.slice(windowStarts[part], windowStarts[part + 1]);
  const window = deflated.length === 0
    ? deflated
    : zlib().inflateRawSync(deflated, { maxOutputLength: WINDOW });
  return { packed: packed[part]!, spareBits: spareBits[part]!, window };
}

/** Returns the part that contains an offset below the size. */
export function partAt({ starts }: StreamIndex, offset: number): number {
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
  { size, junk, ...columns }: StreamIndex,
): CachedTables {
  return { columns, facts: { size, junk } };
}

/** Returns the index of cached tables; `undefined` if they are not of this source. */
export function indexOf(
  source: ByteSource,
  { columns, facts }: CachedTables,
): StreamIndex | undefined {
  const { size, junk } = facts as Partial<StreamIndex>;
  const index = { ...columns, size, junk } as StreamIndex;
  return isValid(index, source) ? index : undefined;
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
  return Number.isSafeInteger(size) && Number.isSafeInteger(junk) &&
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
