import { crc32 } from "node:zlib";
import {
  GatheredBytes,
  LARGEST_BUFFER,
} from "../../../io/write/gathered_bytes.ts";
import type { Steps } from "../../../io/concurrency/steps.ts";

/** The samples of a file that is being written: bytes one after the other. */
export class SampleOutput extends GatheredBytes {
  /**
   * Gathers bytes for which there is room.
   *
   * @param crc Checksum of the sample's bytes before them.
   * @returns Checksum with them.
   */
  gather(bytes: Uint8Array, crc: number): number {
    this.add(bytes);
    return crc32(this.last(bytes.byteLength), crc);
  }

  /** Appends bytes of any number; `crc` as for {@linkcode SampleOutput.gather}. */
  append(bytes: Uint8Array, crc: number): Steps<number> {
    return this.appendSummed(bytes, crc32, crc, "sample");
  }

  /**
   * Writes bytes of which the checksums are known from where they lie.
   *
   * @returns Where the first of them went.
   */
  *appendAll(bytes: Uint8Array): Steps<number> {
    yield* this.flush();
    const { end } = this;
    yield* this.write(bytes);
    return end;
  }

  /**
   * Writes the rest, moves all samples up by `shift` bytes inside the file, and has the file end
   * with the last one.
   */
  *finish(shift: number): Steps<void> {
    const { written } = this;
    const end = this.end + shift;
    this.startAt(written + shift);
    yield* this.flush();
    if (shift > 0) yield* this.#moveUp(written, shift);
    if (this.furthest > end) yield* this.file.truncate(end);
  }

  /** From the end backwards, so that what is overwritten has been moved already. */
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
