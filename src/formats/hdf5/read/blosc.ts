import { viewOf } from "../../../base/view_of.ts";
import { CellFault } from "../../../codecs/cells/cell_fault.ts";
import { decompress } from "../../../io/block_cache/inflate.ts";
import { decodeLz4Block } from "../../../io/block_cache/lz4_frame.ts";
import type { Steps } from "../../../io/concurrency/steps.ts";

/** Bits of the flags, of which the highest three are the compressor (c-blosc, README_CHUNK_FORMAT.rst). */
const Flag = { SHUFFLE: 1, STORED: 2, BIT_SHUFFLE: 4, WHOLE: 16 } as const;
const HEADER = 16;
/** A block is split by the bytes of its elements if these are few, and it has many. */
const MOST_SPLITS = 16;
const LEAST_SPLIT = 128;

const fault = (why: string, cause?: unknown) =>
  new CellFault(`has a chunk that ${why}`, "damaged", cause);

/** Decompressors of a part of a known size, by their number in the flags. */
const DECODERS: readonly (
  | ((bytes: Uint8Array, into: Uint8Array) => Steps<void> | void)
  | undefined
)[] = [
  unpackBloscLz,
  (bytes, into) => {
    const done = decodeLz4Block(bytes, into, 0, fault);
    if (done !== into.length) throw wrongForm();
  },
  undefined, // Snappy
  (bytes, into) => decompress(bytes.subarray(2, -4), "deflate", into, fault),
  (bytes, into) => decompress(bytes, "zstd", into, fault),
];

/**
 * Decompresses a chunk of Blosc 1 (the registered filter 32001).
 *
 * @param unshuffled Undoes the shuffling of a block.
 */
export function* unpackBlosc(
  bytes: Uint8Array,
  size: number,
  unshuffled: (bytes: Uint8Array, item: number) => Uint8Array,
): Steps<Uint8Array> {
  if (bytes.length < HEADER) throw wrongForm();
  const view = viewOf(bytes);
  const flags = bytes[2]!;
  const item = bytes[3]!;
  const blockSize = view.getUint32(8, true);
  if (view.getUint32(4, true) !== size) throw wrongForm();
  const into = new Uint8Array(size);
  if (flags & Flag.STORED) {
    if (bytes.length < HEADER + size) throw wrongForm();
    into.set(bytes.subarray(HEADER, HEADER + size));
    return into;
  }
  const decode = DECODERS[flags >> 5];
  if (decode === undefined || flags & Flag.BIT_SHUFFLE) {
    throw new CellFault(
      "is compressed by Blosc with Snappy or shuffled bits, which is unsupported",
      "unsupported",
    );
  }
  const blocks = Math.ceil(size / blockSize);
  if (!(HEADER + 4 * blocks <= bytes.length)) throw wrongForm();
  for (let i = 0; i < blocks; i++) {
    const block = into.subarray(i * blockSize, (i + 1) * blockSize);
    const isSplit = (flags & Flag.WHOLE) === 0 && item <= MOST_SPLITS &&
      block.length === blockSize && blockSize / item >= LEAST_SPLIT;
    const own = isSplit ? blockSize / item : block.length;
    let at = view.getUint32(HEADER + 4 * i, true);
    for (let done = 0; done < block.length; done += own) {
      if (at + 4 > bytes.length) throw wrongForm();
      const length = view.getUint32(at, true);
      at += 4;
      const part = bytes.subarray(at, at + length);
      if (part.length !== length || !Number.isInteger(own)) throw wrongForm();
      const out = block.subarray(done, done + own);
      const steps = length === own ? out.set(part) : decode(part, out);
      if (steps !== undefined) yield* steps;
      at += length;
    }
    if (flags & Flag.SHUFFLE) block.set(unshuffled(block, Math.max(1, item)));
  }
  return into;
}

/** Distance from which on a match has two bytes more (c-blosc, blosclz.c). */
const FAR = 8191;

/** Decompresses BloscLZ: literals, and references to what precedes. */
function unpackBloscLz(bytes: Uint8Array, into: Uint8Array): void {
  const { length } = bytes;
  let [at, done] = [0, 0];
  let control = bytes[at++]! & 31;
  for (;;) {
    if (control < 32) {
      const end = at + control + 1;
      if (end > length || done + control + 1 > into.length) throw wrongForm();
      into.set(bytes.subarray(at, end), done);
      done += control + 1;
      at = end;
    } else {
      let count = (control >> 5) - 1;
      for (let more = 255; count >= 6 && more === 255; count += more) {
        more = bytes[at++] ?? 0;
      }
      count += 3;
      const near = bytes[at++]!;
      let distance = ((control & 31) << 8) + near + 1;
      if (near === 255 && control % 32 === 31) {
        distance = (bytes[at]! << 8) + bytes[at + 1]! + FAR + 1;
        at += 2;
      }
      const isInside = at <= length && distance <= done &&
        done + count <= into.length;
      if (!isInside) throw wrongForm();
      for (let i = 0; i < count; i++, done++) {
        into[done] = into[done - distance]!;
      }
    }
    if (at >= length) break;
    control = bytes[at++]!;
  }
  if (done !== into.length) throw wrongForm();
}

function wrongForm(): CellFault {
  return fault("is not one of Blosc, or of another size");
}
