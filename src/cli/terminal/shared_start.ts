import { encodeName } from "../../base/names.ts";
import type { Output } from "./output.ts";

/** Output copies what is this small, in bytes. */
const PIECE = 1 << 15;

/**
 * What lines of a listing start with that are about one directory, and with one part more those about what
 * is in it: its path, or the branches that a tree is drawn with. Kept as bytes, so that a line costs no
 * more than to copy them, however deep it is.
 */
export class SharedStart {
  #bytes = new Uint8Array(256);
  /** Where the part of each depth ends. */
  readonly #ends = [0];

  /** Takes away the parts from a depth on, and adds one in their place. */
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

  /** Puts the parts above a depth. */
  put(out: Output, depth: number): void {
    const end = this.#ends[depth]!;
    for (let at = 0; at < end; at += PIECE) {
      out.putBytes(this.#bytes.subarray(at, Math.min(at + PIECE, end)));
    }
  }
}
