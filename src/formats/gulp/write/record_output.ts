import type { Steps } from "../../../io/concurrency/steps.ts";
import {
  GatheredBytes,
  LARGEST_BUFFER,
} from "../../../io/write/gathered_bytes.ts";

/** Records are padded by zeros to a multiple of 4 bytes. */
const ZEROS = new Uint8Array(3);

/** Puts records into a data file, one behind the other. */
export class RecordOutput extends GatheredBytes {
  /** How far the file may have been written, dropped records included. */
  get reached(): number {
    return this.furthest;
  }

  /**
   * Writes a record; it may be on its way until {@linkcode finish}.
   *
   * @param frames Its place is put to these: loc, pad, and length with the padding.
   */
  *record(bytes: Uint8Array, frames: number[]): Steps<void> {
    const padding = ZEROS.subarray(0, -bytes.length & 3);
    const length = bytes.length + padding.length;
    const place = [this.end, padding.length, length];
    if (length > this.room) yield* this.flush();
    if (length > LARGEST_BUFFER) {
      yield* this.write(bytes);
      yield* this.write(padding);
    } else {
      this.add(bytes);
      this.add(padding);
    }
    frames.push(...place);
  }

  /** Has the file hold all records, and nothing else. */
  *finish(): Steps<void> {
    yield* this.flush();
    if (this.furthest <= this.end) return;
    yield* this.file.truncate(this.end);
    this.furthest = this.end;
  }
}
