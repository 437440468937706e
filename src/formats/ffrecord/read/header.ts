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

/** Bytes per read of the tables, few enough that a piece is checksummed while in the CPU cache. */
const PIECE = 1 << 20;

export interface RecordFileHeader {
  readonly count: number;
  /** Tables as in the file, in shared memory: `count` checksums, then `count` offsets of two words, low word first. */
  readonly table: Uint32Array;
  /** Metadata checksum; 0 in a file of an old version. */
  readonly checksum: number;
  /** Checksum mismatch of the metadata, if it was not to be rejected. */
  readonly mismatch?: FormatError | undefined;
}

/** Header before the tables. */
interface FixedHeader {
  /** The file is large enough for this many entries in its tables. */
  readonly count: number;
  readonly checksum: number;
  /** Bytes that the metadata checksum covers before the tables. */
  readonly covered: Uint8Array;
}

/**
 * Reads and checks the header of an `.ffr` file.
 *
 * @param checkMetadata Whether to verify the metadata checksum, if the file has one.
 * @throws {FormatError} If the header is truncated, its count is impossible, its checksum is wrong, or the file's
 * writer was killed before closing it.
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
    // One request for everything, without reading ahead.
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

/** Allocates shared memory for the tables of `count` samples, which is not committed until written. */
function newTable(count: number): Uint8Array<SharedArrayBuffer> {
  return new Uint8Array(newSharedMemory(count * BYTES_PER_SAMPLE));
}

function mismatchOf(
  path: string,
  recorded: number,
  computed: number,
): FormatError | undefined {
  if (recorded === 0 || recorded === computed) return undefined;
  return new FormatError(
    "metadata-checksum",
    `Cannot read ${path}: checksum mismatch in metadata: recorded ` +
      `${hex(recorded)}, computed ${hex(computed)}: the file is damaged. ` +
      "Download it again",
    { path, offset: 0, expected: recorded, actual: computed },
  );
}

/** @throws {FormatError} If the header is truncated, its count impossible, or the writer was killed before closing. */
function* readFixedHeader(source: ByteSource): Steps<FixedHeader> {
  const path = source.name;
  if (source.size < FIXED_HEADER) {
    throw new FormatError(
      "truncated-header",
      `Cannot read ${path}: truncated header: an FFRecord file has at ` +
        `least ${FIXED_HEADER} bytes, this one ${source.size}. Download or ` +
        "write it again",
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
  // Before the checksum is known, a wrong count and a truncated table look alike.
  if (count < 0 || count > room) {
    throw refuseCount(path, view.getBigInt64(4, true), source.size, checksum);
  }
  if (count === 0 && checksum === 0 && source.size > FIXED_HEADER) {
    throw new FormatError(
      "unfinished",
      `Cannot read ${path}: unfinished file: N is 0 and the checksum is 0 ` +
        `although ${source.size - FIXED_HEADER} more bytes follow, so its ` +
        "writer was stopped before it closed the file. Write it again",
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
  // A recorded checksum covers N: the file was truncated, or N was damaged.
  if (checksum !== 0 && count >= 0n && needed < 2n ** 40n) {
    return new FormatError(
      "truncated-header",
      `Cannot read ${path}: truncated header: ${words}. Download it again`,
      facts,
    );
  }
  return new FormatError(
    "absurd-count",
    `Cannot read ${path}: ${words}: it is damaged, or not an FFRecord ` +
      "file",
    facts,
  );
}

function hex(value: number): string {
  return `0x${value.toString(16).padStart(8, "0")}`;
}

/** Bytes of the tables per load; a thread may have to wait for a whole piece. */
const PENDING_PIECE = 1 << 18;

/**
 * Header whose tables are loaded and checked while other threads already serve from them: ten million samples have 120
 * MB of tables. A thread that needs a missing piece requests it and waits; that piece is read next.
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
   * Reads the header before the tables, and nothing of the tables.
   *
   * @param check Whether {@linkcode PendingHeader.complete} verifies the metadata checksum.
   * @param pieceSize Bytes per load, a multiple of 4.
   */
  static *read(
    source: ByteSource,
    check: boolean,
    pieceSize = PENDING_PIECE,
  ): Steps<PendingHeader> {
    const fixed = yield* readFixedHeader(source);
    return new PendingHeader(source, fixed, check, pieceSize);
  }

  /** Loads the table entries of one sample, so that this thread can look it up. */
  *loadSample(sample: number): Steps<void> {
    const places = [4 * sample, 4 * this.count + 8 * sample];
    if (sample + 1 < this.count) places.push(4 * this.count + 8 * sample + 8);
    for (const place of places) {
      // Entries are 4-byte aligned; an offset may straddle two pieces.
      yield* this.#load(Math.floor(place / this.#pieceSize));
      yield* this.#load(Math.floor((place + 4) / this.#pieceSize));
    }
  }

  /**
   * Loads the remaining pieces, and verifies the checksum.
   *
   * @throws {FormatError} If the checksum is wrong, or the tables cannot be read; all current and future waiters then
   * get an error as well.
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

  /** Runs after all pieces are loaded: a thread may wait for any piece, which checksumming must not delay. */
  *#compare(): Steps<void> {
    let crc = crc32Of(this.#covered);
    for (let p = 0; p < this.#pieces; p++) {
      yield* perform(yieldWhenDue);
      crc = crc32Of(this.#piece(p), crc);
    }
    const mismatch = mismatchOf(this.#source.name, this.checksum, crc);
    if (mismatch === undefined) return;
    // Other threads use this table: only reopening the file can help.
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
