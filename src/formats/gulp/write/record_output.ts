import type { Steps } from "../../../io/concurrency/steps.ts";
import type { WritableFile } from "../../../io/write/writable_file.ts";

/** Records are padded by zeros to a multiple of that many bytes. */
const ALIGNMENT = 4;

/** Small records are gathered to writes of this size. */
const BLOCK = 1 << 20;

/** Where a record was put. */
export interface WrittenRecord {
  readonly loc: number;
  readonly pad: number;
  /** In bytes, padding included. */
  readonly length: number;
}

/** Puts records into a data file, one behind the other. */
export class RecordOutput {
  readonly #block = new Uint8Array(BLOCK);
  /** Where the block goes. */
  #start: number;
  #filled = 0;
  #reached: number;

  /** @param end Where the first record goes. */
  constructor(end: number) {
    this.#start = end;
    this.#reached = end;
  }

  /** Where the next record goes. */
  get end(): number {
    return this.#start + this.#filled;
  }

  /** How far the file may have been written, dropped records included. */
  get reached(): number {
    return this.#reached;
  }

  /** Writes a record; it may be on its way until {@linkcode flush}. */
  *write(file: WritableFile, bytes: Uint8Array): Steps<WrittenRecord> {
    const pad = (ALIGNMENT - bytes.length % ALIGNMENT) % ALIGNMENT;
    const length = bytes.length + pad;
    const loc = this.end;
    if (length > BLOCK - this.#filled) yield* this.#writeBlock(file);
    if (length > BLOCK) {
      this.#reached = Math.max(this.#reached, loc + length);
      yield* file.writeAt(bytes, loc);
      if (pad > 0) yield* file.writeAt(new Uint8Array(pad), loc + bytes.length);
      this.#start = loc + length;
    } else {
      this.#block.set(bytes, this.#filled);
      this.#block.fill(0, this.#filled + bytes.length, this.#filled + length);
      this.#filled += length;
    }
    return { loc, pad, length };
  }

  /** Drops the records from `end` on. */
  back(end: number): void {
    if (end >= this.#start) this.#filled = end - this.#start;
    else {
      this.#start = end;
      this.#filled = 0;
    }
  }

  /** Has the file hold all records, and nothing else. */
  *flush(file: WritableFile): Steps<void> {
    yield* this.#writeBlock(file);
    if (this.#reached <= this.#start) return;
    yield* file.truncate(this.#start);
    this.#reached = this.#start;
  }

  *#writeBlock(file: WritableFile): Steps<void> {
    if (this.#filled === 0) return;
    const end = this.end;
    this.#reached = Math.max(this.#reached, end);
    yield* file.writeAt(this.#block.subarray(0, this.#filled), this.#start);
    this.#start = end;
    this.#filled = 0;
  }
}
