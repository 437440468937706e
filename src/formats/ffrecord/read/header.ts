import { newSharedMemory } from "../../../io/libc/new_memory.ts";
import { FormatError } from "../../../base/errors.ts";
import type { ByteSource } from "../../../io/storage/byte_source.ts";
import { crc32Of } from "../../../io/read/crc32_of.ts";
import { fill, readElsewhere } from "../../../io/read/read_part.ts";
import {
  readParsed,
  readUnlessWrong,
} from "../../../io/read/verified_content.ts";
import { yieldWhenDue } from "../../../io/concurrency/event_loop.ts";
import { mustWait } from "../../../io/storage/must_wait.ts";
import { perform, type Steps } from "../../../io/concurrency/steps.ts";
import { BYTES_PER_SAMPLE, FIXED_HEADER, parseCount } from "../layout.ts";
import { TableProgress } from "./table_progress.ts";

/** The tables are read in pieces, so that the checksum is taken while a piece is in the cache. */
const PIECE = 1 << 20;

/** The header of one `.ffr` file. */
export interface RecordFileHeader {
  /** Number of samples. */
  readonly count: number;
  /**
   * Both tables as they are in the file, over shared memory: `count` checksums, then `count`
   * offsets of two words each, the low one first.
   */
  readonly table: Uint32Array;
  /** The metadata checksum, 0 in a file of an old version. */
  readonly checksum: number;
  /** Its metadata are not what was written: they were not to be refused for that. */
  readonly mismatch?: FormatError | undefined;
}

/** What stands before the tables. */
interface FixedHeader {
  /** Number of samples; the file is large enough for their tables. */
  readonly count: number;
  /** The metadata checksum, 0 in a file of an old version. */
  readonly checksum: number;
  /** The bytes that the metadata checksum covers, to which the tables are to be added. */
  readonly covered: Uint8Array;
}

/**
 * Reads and checks the header of an `.ffr` file.
 *
 * @param checkMetadata Whether to compare the metadata checksum, where the file has one.
 * @throws {FormatError} If the header is cut short, its count can't be, its checksum is wrong, or
 * the file's writer was killed before it closed the file.
 */
export function* readHeader(
  source: ByteSource,
  checkMetadata = true,
): Steps<RecordFileHeader> {
  const header = yield* readUnlessWrong(
    source,
    () => readTables(source),
    ({ mismatch, table }) =>
      mismatch && { offset: 0, length: FIXED_HEADER + table.byteLength },
  );
  if (checkMetadata && header.mismatch !== undefined) throw header.mismatch;
  return header;
}

function* readTables(source: ByteSource): Steps<RecordFileHeader> {
  const { count, checksum, covered } = yield* readFixedHeader(source);
  const bytes = newTable(count);
  let crc = crc32Of(covered);
  const isLocal = source.readAtSync !== undefined;
  if (!isLocal && bytes.length > 0) {
    // All is asked for in one, and nothing of what lies behind.
    yield* perform({
      sync() {
        throw mustWait(source.name);
      },
      async: (signal) =>
        readElsewhere(source, bytes, FIXED_HEADER, signal, false),
    });
  }
  for (let done = 0; done < bytes.byteLength; done += PIECE) {
    const piece = bytes.subarray(done, done + PIECE);
    if (isLocal) yield* fill(source, piece, FIXED_HEADER + done);
    crc = crc32Of(piece, crc);
  }
  const mismatch = mismatchOf(source.name, checksum, crc);
  return { count, table: new Uint32Array(bytes.buffer), checksum, mismatch };
}

/** Shared memory for the tables of `count` samples; what is not written to takes none. */
function newTable(count: number): Uint8Array<SharedArrayBuffer> {
  return new Uint8Array(newSharedMemory(count * BYTES_PER_SAMPLE));
}

/** The error for metadata whose checksum is not the one that was recorded, if any was. */
function mismatchOf(
  path: string,
  recorded: number,
  computed: number,
): FormatError | undefined {
  if (recorded === 0 || recorded === computed) return undefined;
  return new FormatError(
    "metadata-checksum",
    `${path}: checksum mismatch in metadata: recorded ${hex(recorded)}, ` +
      `computed ${hex(computed)}; the file is damaged: fetch it again`,
    { path, offset: 0, expected: recorded, actual: computed },
  );
}

/**
 * Reads what stands before the tables.
 *
 * @throws {FormatError} If it is cut short, its count can't be, or the file's writer was killed
 * before it closed the file.
 */
function* readFixedHeader(source: ByteSource): Steps<FixedHeader> {
  const path = source.name;
  if (source.size < FIXED_HEADER) {
    throw new FormatError(
      "truncated-header",
      `${path}: header cut short (truncated): an FFRecord file has at least ` +
        `${FIXED_HEADER} bytes, this one ${source.size}; fetch or write it again`,
      { path, expected: FIXED_HEADER, actual: source.size },
    );
  }
  return yield* readParsed(
    source,
    0,
    FIXED_HEADER,
    (fixed) => parseFixedHeader(source, fixed),
  );
}

function parseFixedHeader(
  source: ByteSource,
  fixed: Uint8Array<ArrayBuffer>,
): FixedHeader {
  const path = source.name;
  const view = new DataView(fixed.buffer);
  const checksum = view.getUint32(0, true);
  const count = parseCount(view);
  const room = Math.floor((source.size - FIXED_HEADER) / BYTES_PER_SAMPLE);
  // A wrong count and a cut table look alike where the checksum is not known yet.
  if (count < 0 || count > room) {
    throw refuseCount(path, view.getBigInt64(4, true), source.size, checksum);
  }
  if (count === 0 && checksum === 0 && source.size > FIXED_HEADER) {
    throw new FormatError(
      "unfinished",
      `${path}: an unfinished file: N is 0 and the checksum is 0 though ` +
        `${source.size - FIXED_HEADER} more bytes follow; its writer was ` +
        `stopped before it closed the file: write it again`,
      { path, offset: 0 },
    );
  }
  return { count, checksum, covered: fixed.subarray(4) };
}

function refuseCount(
  path: string,
  count: bigint,
  size: number,
  checksum: number,
): FormatError {
  const facts = { path, offset: 4, actual: count };
  const needed = BigInt(FIXED_HEADER) + BigInt(BYTES_PER_SAMPLE) * count;
  const words = `N does not fit in the file: it is ${count}, which takes a ` +
    `header of ${needed} bytes, and the file has ${size}`;
  // With a recorded checksum, N is part of what it covers and the file was cut or N was damaged.
  if (checksum !== 0 && count >= 0n && needed < 2n ** 40n) {
    return new FormatError(
      "truncated-header",
      `${path}: header cut short (truncated): ${words}; fetch it again`,
      facts,
    );
  }
  return new FormatError(
    "absurd-count",
    `${path}: ${words}; it is damaged or no FFRecord file`,
    facts,
  );
}

function hex(value: number): string {
  return `0x${value.toString(16).padStart(8, "0")}`;
}

/** Bytes of the tables that are loaded at a time: a thread may wait for the whole of a piece. */
const PENDING_PIECE = 1 << 18;

/**
 * The header of an `.ffr` file whose tables are read and checked while other threads serve from
 * them: ten million samples have 120 MB of them. A thread that needs a piece which is not there yet
 * asks for it and waits, and it is the next one that is read.
 */
export class PendingHeader implements RecordFileHeader {
  readonly count: number;
  readonly table: Uint32Array;
  readonly checksum: number;
  readonly progress: TableProgress;
  readonly #source: ByteSource;
  readonly #covered: Uint8Array;
  readonly #check: boolean;
  readonly #bytes: Uint8Array;
  readonly #pieceSize: number;

  private constructor(
    source: ByteSource,
    { count, checksum, covered }: FixedHeader,
    check: boolean,
    pieceSize: number,
  ) {
    this.#pieceSize = pieceSize;
    this.#source = source;
    this.count = count;
    this.checksum = checksum;
    this.#covered = covered;
    this.#check = check;
    const bytes = newTable(count);
    this.#bytes = bytes;
    this.table = new Uint32Array(bytes.buffer);
    this.progress = TableProgress.of(bytes.byteLength, pieceSize);
  }

  /**
   * Reads what stands before the tables, and of the tables nothing.
   *
   * @param check Whether {@linkcode PendingHeader.complete} compares the metadata checksum.
   * @param pieceSize Bytes that are loaded at a time, a multiple of 4.
   */
  static *read(
    source: ByteSource,
    check: boolean,
    pieceSize = PENDING_PIECE,
  ): Steps<PendingHeader> {
    const fixed = yield* readFixedHeader(source);
    return new PendingHeader(source, fixed, check, pieceSize);
  }

  /** Loads what the tables say of one sample, so that this thread can look it up. */
  *loadSample(sample: number): Steps<void> {
    const places = [4 * sample, 4 * this.count + 8 * sample];
    if (sample + 1 < this.count) places.push(4 * this.count + 8 * sample + 8);
    for (const place of places) {
      // Rows lie at multiples of 4 bytes, an offset may lie across the end of a piece.
      yield* this.#load(Math.floor(place / this.#pieceSize));
      yield* this.#load(Math.floor((place + 4) / this.#pieceSize));
    }
  }

  /**
   * Loads all that is not loaded yet, and checks it.
   *
   * @throws {FormatError} If the checksum is wrong, or the tables can't be read; threads that wait,
   * and those that ask from then on, are told.
   */
  *complete(): Steps<void> {
    if (this.progress.isSound) return;
    let sound = false;
    try {
      for (let p = 0; p < this.#pieces; p++) {
        const wanted = this.progress.wanted();
        if (wanted >= 0) yield* this.#load(wanted);
        yield* this.#load(p);
      }
      if (this.#check) yield* this.#compare();
      sound = true;
    } finally {
      this.progress.settle(sound);
    }
  }

  /** Only when all is loaded: a thread may wait for any piece, and none for the checksum's code. */
  *#compare(): Steps<void> {
    let crc = crc32Of(this.#covered);
    for (let p = 0; p < this.#pieces; p++) {
      yield* perform(yieldWhenDue);
      crc = crc32Of(this.#piece(p), crc);
    }
    const mismatch = mismatchOf(this.#source.name, this.checksum, crc);
    if (mismatch === undefined) return;
    // Others go by what is here: only who opens it anew can do better.
    this.#source.invalidate?.(0, FIXED_HEADER + this.#bytes.byteLength);
    throw mismatch;
  }

  get #pieces(): number {
    return Math.ceil(this.#bytes.byteLength / this.#pieceSize);
  }

  *#load(piece: number): Steps<void> {
    const bytes = this.#piece(piece);
    if (bytes.length === 0 || this.progress.isLoaded(piece)) return;
    yield* fill(this.#source, bytes, FIXED_HEADER + piece * this.#pieceSize);
    this.progress.loaded(piece);
  }

  #piece(piece: number): Uint8Array {
    const start = piece * this.#pieceSize;
    return this.#bytes.subarray(start, start + this.#pieceSize);
  }
}
