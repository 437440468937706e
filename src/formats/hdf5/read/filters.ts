import { viewOf } from "../../../base/view_of.ts";
import { CellFault } from "../../../codecs/cells/cell_fault.ts";
import { decompress } from "../../../io/block_cache/inflate.ts";
import { decodeLz4Block } from "../../../io/block_cache/lz4_frame.ts";
import type { Steps } from "../../../io/concurrency/steps.ts";
import { FILTER_NAMES, FilterId } from "../layout.ts";
import { unpackBlosc } from "./blosc.ts";
import type { Filter } from "./dataset.ts";
import { unpackBits, unscale } from "./packed_bits.ts";

const fault = (why: string, cause?: unknown) =>
  new CellFault(`has a chunk that ${why}`, "damaged", cause);

/** Bytes that a filter adds to a chunk, at most. */
const CHECKSUM = 4;

/** Undoes a filter; `size` is the number of bytes before it was applied, or the most if that varies. */
type Undo = (
  bytes: Uint8Array,
  size: number,
  values: readonly number[],
  isExact: boolean,
) => Steps<Uint8Array> | Uint8Array;

const FILTERS: ReadonlyMap<number, Undo> = new Map<number, Undo>([
  [FilterId.DEFLATE, function* (bytes, size, _, isExact) {
    if (!isExact) return inflateUpTo(bytes, size);
    const into = new Uint8Array(size);
    // RFC 1950: two bytes of a header and the checksum enclose it.
    const isSound = bytes.length > 6 && (bytes[0]! & 15) === 8 &&
      (bytes[0]! << 8 | bytes[1]!) % 31 === 0 && (bytes[1]! & 32) === 0;
    if (!isSound) throw fault("is not compressed as its filter says");
    yield* decompress(bytes.subarray(2, -4), "deflate", into, fault);
    if (adler32(into) !== lastWord(bytes, false)) throw wrongSum();
    return into;
  }],
  [FilterId.SHUFFLE, (bytes, _size, [item = 1]) => unshuffled(bytes, item)],
  [FilterId.FLETCHER_32, (bytes) => {
    if (bytes.length < CHECKSUM) throw fault("lacks its checksum");
    const content = bytes.subarray(0, -CHECKSUM);
    if (fletcher32(content) !== lastWord(bytes, true)) throw wrongSum();
    return content;
  }],
  [FilterId.N_BIT, unpackBits],
  [FilterId.SCALE_OFFSET, unscale],
  [FilterId.LZF, unpackLzf],
  [FilterId.LZ4, unpackLz4],
  [FilterId.BLOSC, (bytes, size) => unpackBlosc(bytes, size, unshuffled)],
  [FilterId.ZSTD, function* (bytes, size) {
    const into = new Uint8Array(size);
    yield* decompress(bytes, "zstd", into, fault);
    return into;
  }],
]);

/** Returns the name of the first filter that is not supported. */
export function unsupportedFilter(
  filters: readonly Filter[],
): string | undefined {
  const odd = filters.find(({ id }) => !FILTERS.has(id));
  return odd && (FILTER_NAMES.get(odd.id) ?? `number ${odd.id}`);
}

/**
 * Undoes the filters of a chunk.
 *
 * @param size Bytes of the chunk when it is decoded.
 * @param mask Bit per filter that was skipped.
 * @throws {CellFault} If it is damaged.
 */
export function* unfilter(
  stored: Uint8Array,
  filters: readonly Filter[],
  size: number,
  mask: number,
): Steps<Uint8Array> {
  const applied = filters.filter((_, i) => (mask & 1 << i) === 0);
  // Bytes before each filter, as long as they do not depend on the values.
  const sizes = [size];
  let exact = 1;
  for (const [i, { id }] of applied.entries()) {
    const isSame = id === FilterId.SHUFFLE;
    const isSum = id === FilterId.FLETCHER_32;
    if ((isSame || isSum) && exact === i + 1) exact++;
    sizes.push(isSame ? sizes[i]! : sizes[i]! + (isSum ? CHECKSUM : size + 64));
  }
  let bytes = stored;
  for (let i = applied.length - 1; i >= 0; i--) {
    const { id, values } = applied[i]!;
    const undone = FILTERS.get(id)!(bytes, sizes[i]!, values, i < exact);
    bytes = undone instanceof Uint8Array ? undone : yield* undone;
  }
  if (bytes.length === size) return bytes;
  throw fault(`has ${bytes.length} bytes and not ${size}`);
}

function inflateUpTo(bytes: Uint8Array, most: number): Uint8Array {
  try {
    const { inflateSync } = process.getBuiltinModule("node:zlib");
    return inflateSync(bytes, { maxOutputLength: most });
  } catch (cause) {
    throw fault("cannot be decompressed", cause);
  }
}

function unshuffled(bytes: Uint8Array, item: number): Uint8Array {
  const count = Math.floor(bytes.length / item);
  const into = new Uint8Array(bytes.length);
  for (let byte = 0; byte < item; byte++) {
    const start = byte * count;
    for (let i = 0, at = byte; i < count; i++, at += item) {
      into[at] = bytes[start + i]!;
    }
  }
  into.set(bytes.subarray(count * item), count * item);
  return into;
}

/** Bytes whose sums fit 32 bits (zlib's `NMAX`). */
const ADLER_PART = 5552;

function adler32(bytes: Uint8Array): number {
  let [a, b] = [1, 0];
  for (let at = 0; at < bytes.length;) {
    const end = Math.min(bytes.length, at + ADLER_PART);
    for (; at < end; at++) {
      a += bytes[at]!;
      b += a;
    }
    a %= 65521;
    b %= 65521;
  }
  return (b << 16 | a) >>> 0;
}

/** Words whose sums fit 32 bits. */
const FLETCHER_PART = 360;

/** Returns the checksum of `H5_checksum_fletcher32`: of big-endian words, of which an odd last byte is the high one. */
function fletcher32(bytes: Uint8Array): number {
  let [a, b] = [0, 0];
  const { length } = bytes;
  for (let at = 0; at < length;) {
    const end = Math.min(length, at + 2 * FLETCHER_PART);
    for (; at < end; at += 2) {
      a += bytes[at]! << 8 | (at + 1 < length ? bytes[at + 1]! : 0);
      b += a;
    }
    a = (a & 0xffff) + (a >>> 16);
    b = (b & 0xffff) + (b >>> 16);
  }
  a = (a & 0xffff) + (a >>> 16);
  b = (b & 0xffff) + (b >>> 16);
  return (b << 16 | a) >>> 0;
}

function lastWord(bytes: Uint8Array, isLittle: boolean): number {
  return new DataView(bytes.buffer, bytes.byteOffset + bytes.length - 4)
    .getUint32(0, isLittle);
}

function wrongSum(): CellFault {
  return new CellFault("has a chunk with a wrong checksum", "sum");
}

/** Decompresses LZF (liblzf, lzf_d.c): literals, and references to what precedes. */
function unpackLzf(bytes: Uint8Array, size: number): Uint8Array {
  const into = new Uint8Array(size);
  const { length } = bytes;
  let done = 0;
  for (let at = 0; at < length;) {
    const control = bytes[at++]!;
    if (control < 32) {
      const end = at + control + 1;
      if (end > length || done + control + 1 > size) throw wrongSize(size);
      into.set(bytes.subarray(at, end), done);
      done += control + 1;
      at = end;
      continue;
    }
    let count = control >> 5;
    if (count === 7) count += bytes[at++]!;
    const from = done - ((control & 31) << 8) - bytes[at++]! - 1;
    count += 2;
    if (!(at <= length && from >= 0 && done + count <= size)) {
      throw wrongSize(size);
    }
    for (let i = 0; i < count; i++) into[done++] = into[from + i]!;
  }
  if (done !== size) throw wrongSize(size);
  return into;
}

/** Decompresses blocks of LZ4 (the registered filter 32004), whose lengths are big-endian. */
function unpackLz4(bytes: Uint8Array, size: number): Uint8Array {
  const view = viewOf(bytes);
  if (bytes.length < 12 || view.getBigUint64(0) !== BigInt(size)) {
    throw wrongSize(size);
  }
  const most = view.getUint32(8);
  const into = new Uint8Array(size);
  let at = 12;
  for (let done = 0; done < size;) {
    const own = Math.min(most, size - done);
    if (own === 0 || at + 4 > bytes.length) throw wrongSize(size);
    const length = view.getUint32(at);
    const block = bytes.subarray(at + 4, at + 4 + length);
    const part = into.subarray(done, done + own);
    if (block.length !== length) throw wrongSize(size);
    if (length === own) part.set(block);
    else if (decodeLz4Block(block, part, 0, fault) !== own) {
      throw wrongSize(size);
    }
    at += 4 + length;
    done += own;
  }
  return into;
}

function wrongSize(size: number): CellFault {
  return fault(`is not one of ${size} bytes`);
}
