import { viewOf } from "../../../base/view_of.ts";
import { CellFault } from "../../../codecs/cells/cell_fault.ts";

/** Reads numbers of any count of bits, each from its highest bit on. */
class BitReader {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  /** Returns up to 8 bits. */
  take(count: number): number {
    const byte = this.#at >> 3;
    const last = this.#at + count - 1 >> 3;
    if (!(last < this.#bytes.length)) {
      throw new CellFault("has a chunk with fewer bits than its elements");
    }
    const word = this.#bytes[byte]! << 8 | (this.#bytes[last] ?? 0);
    const from = this.#at & 7;
    this.#at += count;
    const pair = last === byte ? word >> 8 << 8 : word;
    return pair >> (16 - from - count) & (1 << count) - 1;
  }
}

/** Class and order of N-bit parameters (`H5Z__nbit`): one number; anything else is a structure or an array. */
const ATOMIC = 1;

/** Undoes the N-bit filter of numbers: they are stored as their bits that are used. */
export function unpackBits(
  bytes: Uint8Array,
  size: number,
  [, isPlain, count = 0, kind, item = 0, order, precision = 0, offset = 0]:
    readonly number[],
): Uint8Array {
  if (isPlain === 1) return bytes;
  if (kind !== ATOMIC) {
    throw new CellFault(
      "is packed by N-bit as a structure, which is unsupported",
      "unsupported",
    );
  }
  if (count * item !== size || offset + precision > 8 * item) {
    throw new CellFault("has a filter of other elements");
  }
  const bits = new BitReader(bytes);
  const into = new Uint8Array(size);
  // From the highest byte to the lowest, of which only some bits are used.
  const highest = offset + precision - 1 >> 3;
  const lowest = offset >> 3;
  for (let at = 0; at < size; at += item) {
    for (let k = highest; k >= lowest; k--) {
      const top = k === highest ? (offset + precision - 1) % 8 + 1 : 8;
      const bottom = k === lowest ? offset % 8 : 0;
      const value = bits.take(top - bottom) << bottom;
      into[order === 1 ? at + item - 1 - k : at + k] = value;
    }
  }
  return into;
}

/** Classes and orders of scale-offset parameters (`H5Z__scaleoffset`). */
const INTEGER = 0;
const BIG = 1;
const HEADER = 21;

/** Undoes the scale-offset filter: numbers are stored as their difference to the least, in as few bits as possible. */
export function unscale(
  bytes: Uint8Array,
  size: number,
  values: readonly number[],
): Uint8Array {
  const [, factor = 0, count = 0, kind, item = 0, , order, hasFill] = values;
  if (![1, 2, 4, 8].includes(item) || count * item !== size) {
    throw new CellFault("has a filter of other elements");
  }
  if (bytes.length < HEADER) {
    throw new CellFault("has a chunk without its start");
  }
  const view = viewOf(bytes);
  const width = view.getUint32(0, true);
  const least = view.getBigInt64(5, true);
  const into = new Uint8Array(size);
  const out = new DataView(into.buffer);
  const isLittle = order !== BIG;
  if (width > 8 * item) throw new CellFault("has a chunk of too wide numbers");
  const content = bytes.subarray(HEADER);
  if (width === 8 * item) {
    into.set(content.subarray(0, size));
    for (let at = 0; !isLittle && at < size; at += item) {
      into.subarray(at, at + item).reverse();
    }
    return into;
  }
  const fill = fillOf(values.slice(8), item);
  const bits = new BitReader(content);
  const all = (1n << BigInt(width)) - 1n;
  const put = (at: number, value: bigint) => {
    for (let i = 0; i < item; i++, value >>= 8n) {
      into[isLittle ? at + i : at + item - 1 - i] = Number(value & 0xffn);
    }
  };
  for (let at = 0; at < size; at += item) {
    let value = 0n;
    for (let left = width; left > 0;) {
      const part = left % 8 || 8;
      value = value << BigInt(part) | BigInt(bits.take(part));
      left -= part;
    }
    if (hasFill === 1 && width > 0 && value === all) put(at, fill);
    else if (kind === INTEGER) put(at, value + least);
    else {
      // The least float is stored as its bits; others are differences in decimal digits.
      const start = item === 4
        ? view.getFloat32(5, true)
        : view.getFloat64(5, true);
      // Computed in the precision of the elements.
      const round = item === 4 ? Math.fround : Number;
      const scaled = round(round(Number(value)) / round(10 ** (factor | 0)));
      const number = scaled + start;
      if (item === 4) out.setFloat32(at, number, isLittle);
      else out.setFloat64(at, number, isLittle);
    }
  }
  return into;
}

/** Returns the fill value of parameters, which are words of it from the lowest on. */
function fillOf(words: readonly number[], item: number): bigint {
  let fill = 0n;
  for (let i = Math.ceil(item / 4) - 1; i >= 0; i--) {
    fill = fill << 32n | BigInt(words[i] ?? 0);
  }
  return fill;
}
