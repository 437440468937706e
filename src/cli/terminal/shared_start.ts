import { encodeName } from "../../base/names.ts";
import type { Output } from "./output.ts";

/** Size in bytes that the output buffers by copying. */
const PIECE = 1 << 15;

/**
 * Common prefix of the lines of a listing: the path of a directory, or the branches of a drawn tree, with one more part
 * per level. Stored as bytes, so that a line costs only a copy, however deep it is.
 */
export class SharedStart {
  #bytes = new Uint8Array(256);
  /** End of the part of each depth. */
  readonly #ends = [0];

  /** Replaces the parts from a depth on by a new one. */
  set(depth: number, part: string): void {
    const bytes = encodeName(part);
    this.#ends.length = depth + 1;
    const start = this.#ends[depth]!;
    const end = start + bytes.byteLength;
    if (end > this.#bytes.byteLength) {
      const larger = new Uint8Array(end * 2);
      larger.set(this.#bytes.subarray(0, start));
      this.#bytes = larger;
    }
    this.#bytes.set(bytes, start);
    this.#ends.push(end);
  }

  /** Writes the parts above a depth. */
  put(out: Output, depth: number): void {
    const end = this.#ends[depth]!;
    for (let at = 0; at < end; at += PIECE) {
      out.putBytes(this.#bytes.subarray(at, Math.min(at + PIECE, end)));
    }
  }
}
