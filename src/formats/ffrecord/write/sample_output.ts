import { crc32 } from "node:zlib";
import {
  GatheredBytes,
  LARGEST_BUFFER,
} from "../../../io/write/gathered_bytes.ts";
import type { Steps } from "../../../io/concurrency/steps.ts";

/** Output for the samples of a new file: consecutive bytes. */
export class SampleOutput extends GatheredBytes {
  /** Gathers bytes, for which there must be room; updates `crc`, the checksum of the sample's bytes before them. */
  gather(bytes: Uint8Array, crc: number): number {
    this.add(bytes);
    return crc32(this.last(bytes.byteLength), crc);
  }

  /** Appends any number of bytes; `crc` as for {@linkcode SampleOutput.gather}. */
  append(bytes: Uint8Array, crc: number): Steps<number> {
    return this.appendSummed(bytes, crc32, crc, "sample");
  }

  /** Writes bytes with known checksums, without copying; returns the offset of the first. */
  *appendAll(bytes: Uint8Array): Steps<number> {
    yield* this.flush();
    const { end } = this;
    yield* this.write(bytes);
    return end;
  }

  /** Flushes, moves all samples up by `shift` bytes in the file, and truncates it after the last one. */
  *finish(shift: number): Steps<void> {
    const { written } = this;
    const end = this.end + shift;
    this.startAt(written + shift);
    yield* this.flush();
    if (shift > 0) yield* this.#moveUp(written, shift);
    if (this.furthest > end) yield* this.file.truncate(end);
  }

  /** Moves backwards from the end, so that nothing is overwritten before it is moved. */
  *#moveUp(length: number, shift: number): Steps<void> {
    const buffer = new Uint8Array(Math.min(length, LARGEST_BUFFER));
    for (let rest = length; rest > 0;) {
      const block = buffer.subarray(0, rest);
      rest -= block.length;
      yield* this.file.readAt(block, rest);
      yield* this.file.writeAt(block, rest + shift);
    }
  }
}
