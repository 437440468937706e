import { crc32 } from "node:zlib";
import { NewFile } from "../../../io/write/new_file.ts";
import type { Steps } from "../../../io/concurrency/steps.ts";
import type { WritableFile } from "../../../io/write/writable_file.ts";
import { BYTES_PER_SAMPLE, endOfHeader, FIXED_HEADER } from "../layout.ts";

/** Rows gathered per write. */
const ROWS = 8192;

const CHECKSUM_BYTES = 4;
const OFFSET_BYTES = 8;

/** Bytes per read of the tables for the metadata checksum. */
const PIECE = 1 << 20;

/**
 * Checksum and offset of each sample of a new file. Writes blocks of rows to their places in the file if the number of
 * samples is known, otherwise to a scratch file until it is.
 */
export class TableOutput {
  readonly #file: WritableFile;
  readonly #count: number | undefined;
  readonly #block = new Uint8Array(ROWS * BYTES_PER_SAMPLE);
  readonly #checksums = new Uint32Array(this.#block.buffer, 0, ROWS);
  /** Two words each, low word first. */
  readonly #offsets = new Uint32Array(
    this.#block.buffer,
    ROWS * CHECKSUM_BYTES,
  );
  #scratch: WritableFile | undefined;
  #closed = false;
  /** Rows written, in whole blocks. */
  #written = 0;
  #used = 0;

  constructor(file: WritableFile, count: number | undefined) {
    this.#file = file;
    this.#count = count;
  }

  get length(): number {
    return this.#written + this.#used;
  }

  /** Whether {@linkcode TableOutput.spill} must run before the next row is added. */
  get isFull(): boolean {
    return this.#used === ROWS;
  }

  add(checksum: number, offset: number): void {
    this.#checksums[this.#used] = checksum;
    this.#setOffset(this.#used, offset);
    this.#used++;
  }

  *spill(): Steps<void> {
    if (this.#count !== undefined) {
      yield* this.#place(this.#count, this.#written, this.#used);
    } else {
      this.#scratch ??= yield* NewFile.createScratch(this.#file.name);
      if (this.#closed) this.#scratch.close(); // closed meanwhile: the write fails
      yield* this.#scratch.writeAt(
        this.#block,
        this.#written * BYTES_PER_SAMPLE,
      );
    }
    this.#written += this.#used;
    this.#used = 0;
  }

  /**
   * Writes the header: the rest of the tables, the number of samples and the checksum. The samples were moved up by
   * `shift` since their offsets were added.
   */
  *finish(shift: number): Steps<void> {
    const count = this.length;
    if (shift > 0) this.#shiftOffsets(this.#used, shift);
    yield* this.#place(count, this.#written, this.#used);
    if (this.#scratch !== undefined) {
      for (let first = 0; first < this.#written; first += ROWS) {
        yield* this.#scratch.readAt(this.#block, first * BYTES_PER_SAMPLE);
        this.#shiftOffsets(ROWS, shift);
        yield* this.#place(count, first, ROWS);
      }
    }
    const fixed = new DataView(new ArrayBuffer(FIXED_HEADER));
    fixed.setBigInt64(4, BigInt(count), true);
    const checksum = yield* this.#checksum(fixed, endOfHeader(count));
    fixed.setUint32(0, checksum, true);
    yield* this.#file.writeAt(new Uint8Array(fixed.buffer), 0);
  }

  close(): void {
    this.#closed = true;
    this.#scratch?.close();
  }

  /** Writes the block's first `rows` rows as those from `first` on. */
  *#place(count: number, first: number, rows: number): Steps<void> {
    const offsets = FIXED_HEADER + CHECKSUM_BYTES * count;
    yield* this.#file.writeAt(
      this.#block.subarray(0, CHECKSUM_BYTES * rows),
      FIXED_HEADER + CHECKSUM_BYTES * first,
    );
    const start = CHECKSUM_BYTES * ROWS;
    yield* this.#file.writeAt(
      this.#block.subarray(start, start + OFFSET_BYTES * rows),
      offsets + OFFSET_BYTES * first,
    );
  }

  *#checksum(fixed: DataView, end: number): Steps<number> {
    let crc = crc32(new Uint8Array(fixed.buffer, 4));
    const buffer = new Uint8Array(Math.min(PIECE, end - FIXED_HEADER));
    for (let at = FIXED_HEADER; at < end; at += buffer.length) {
      const piece = buffer.subarray(0, end - at);
      yield* this.#file.readAt(piece, at);
      crc = crc32(piece, crc);
    }
    return crc;
  }

  #setOffset(row: number, offset: number): void {
    this.#offsets[2 * row] = offset % 2 ** 32;
    this.#offsets[2 * row + 1] = Math.floor(offset / 2 ** 32);
  }

  #shiftOffsets(rows: number, shift: number): void {
    for (let row = 0; row < rows; row++) {
      const offset = this.#offsets[2 * row]! +
        this.#offsets[2 * row + 1]! * 2 ** 32;
      this.#setOffset(row, offset + shift);
    }
  }
}
