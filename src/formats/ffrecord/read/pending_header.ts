import type { ByteSource } from "../../../io/storage/byte_source.ts";
import { crc32Of } from "../../../io/read/crc32_of.ts";
import { fill } from "../../../io/read/read_part.ts";
import { yieldWhenDue } from "../../../io/concurrency/event_loop.ts";
import { perform, type Steps } from "../../../io/concurrency/steps.ts";
import {
  compareChecksum,
  type FixedHeader,
  newTable,
  readFixedHeader,
  type RecordFileHeader,
} from "./header.ts";
import { FIXED_HEADER } from "../layout.ts";
import { TableProgress } from "./table_progress.ts";

/** Bytes of the tables that are loaded at a time: a thread may wait for the whole of a piece. */
const PIECE = 1 << 18;

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
    this.progress = TableProgress.of(bytes.length, pieceSize);
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
    pieceSize = PIECE,
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
    compareChecksum(this.#source.name, this.checksum, crc);
  }

  get #pieces(): number {
    return Math.ceil(this.#bytes.length / this.#pieceSize);
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
