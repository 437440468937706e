import { bitsOf, checkRuns, type PagePart, varint } from "./check_page.ts";
import { CellFault } from "../../../codecs/cells/cell_fault.ts";

/** Decodes the levels of a page, up to `most`, below 256. Throws unless the runs have `count` valid levels. */
export function readLevels(
  part: PagePart,
  most: number,
  count: number,
): Uint8Array {
  const bits = bitsOf(most);
  checkRuns(part, bits, count);
  const levels = new Uint8Array(count);
  readRuns(part, bits, 0, levels);
  for (let i = 0; i < count; i++) {
    if (levels[i]! > most) {
      throw new CellFault(`has level ${levels[i]} of ${most}`);
    }
  }
  return levels;
}

/**
 * Decodes RLE and bit-packed runs that {@linkcode checkRuns} has validated.
 *
 * @param bits Bits per number, at most 24.
 * @param first Index of the first number to decode, as many as fit into `into`.
 */
export function readRuns(
  part: PagePart,
  bits: number,
  first: number,
  into: Uint8Array | Uint32Array,
): void {
  const { bytes } = part;
  const width = bits + 7 >> 3;
  const last = first + into.length;
  let { at } = part;
  for (let done = 0; done < last;) {
    const [header, start] = varint(part, at);
    at = start;
    const isPacked = header % 2 === 1;
    const length = isPacked ? 4 * (header - 1) : header / 2;
    const from = Math.max(done, first);
    const to = Math.min(done + length, last);
    if (!isPacked && from < to) {
      let value = 0;
      for (let i = width - 1; i >= 0; i--) value = value << 8 | bytes[at + i]!;
      into.fill(value, from - first, to - first);
    }
    if (isPacked && from < to) {
      const bit = (from - done) * bits;
      const place = at + Math.floor(bit / 8);
      unpack(bytes, place, bit % 8, bits, into, from - first, to - first);
    }
    at += isPacked ? length * bits / 8 : width;
    done += length;
  }
}

/** Unpacks numbers, starting at a bit of a byte. */
function unpack(
  bytes: Uint8Array,
  at: number,
  bit: number,
  bits: number,
  into: Uint8Array | Uint32Array,
  from: number,
  to: number,
): void {
  const mask = 2 ** bits - 1;
  // Bytes after the last number may be missing.
  const byteAt = (at: number) => at < bytes.length ? bytes[at]! : 0;
  let [held, count] = [byteAt(at++) >>> bit, 8 - bit];
  for (let i = from; i < to; i++) {
    while (count < bits) {
      held |= byteAt(at++) << count;
      count += 8;
    }
    into[i] = held & mask;
    held >>>= bits;
    count -= bits;
  }
}

export function countLevels(
  levels: Uint8Array,
  wanted: number,
  from = 0,
  to: number = levels.length,
): number {
  let count = 0;
  for (let i = from; i < to; i++) if (levels[i] === wanted) count++;
  return count;
}
