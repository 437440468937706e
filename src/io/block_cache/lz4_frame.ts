import { viewOf } from "../../base/view_of.ts";
import type { DecodeFault } from "./inflate.ts";

const MAGIC = 0x184d2204;
/** Bits of a frame's first flag byte. */
const Flag = {
  DICTIONARY: 1,
  CONTENT_SUM: 4,
  CONTENT_SIZE: 8,
  BLOCK_SUM: 16,
} as const;
/** Version of the format in the highest two bits. */
const VERSION = 1;
const STORED = 0x80000000;
const LEAST_MATCH = 4;
/** Longest match that is copied faster byte by byte. */
const SHORT = 32;
const SUM = 4;
/** Bytes that a byte of a length stands for at most. */
const MOST_EXPANSION = 256;

/**
 * Decompresses an LZ4 frame (LZ4 frame format 1.6, LZ4 block format) of a known size. Its checksums are not compared.
 * Blocks may refer to those before, which decoders of single blocks cannot do.
 *
 * @throws What `fault` returns if it is damaged or of another size.
 */
export function decompressLz4Frame(
  bytes: Uint8Array,
  size: number,
  fault: DecodeFault,
): Uint8Array<ArrayBuffer> {
  const cut = () => fault("ends within its LZ4 frame");
  const view = viewOf(bytes);
  if (bytes.length < 7) throw cut();
  const flags = bytes[4]!;
  if (view.getUint32(0, true) !== MAGIC || flags >> 6 !== VERSION) {
    throw fault("is not an LZ4 frame");
  }
  if (flags & Flag.DICTIONARY) throw fault("needs a dictionary of LZ4");
  if (size > MOST_EXPANSION * bytes.length) {
    throw fault(`has ${bytes.length} bytes, which never become ${size}`);
  }
  const output = new Uint8Array(size);
  let at = 7 + (flags & Flag.CONTENT_SIZE ? 8 : 0);
  let done = 0;
  for (;;) {
    if (at + 4 > bytes.length) throw cut();
    const head = view.getUint32(at, true);
    at += 4;
    if (head === 0) break;
    const length = head % STORED;
    const end = at + length;
    if (end > bytes.length) throw cut();
    const block = bytes.subarray(at, end);
    if (head < STORED) done = decodeLz4Block(block, output, done, fault);
    else if (done + length > size) throw larger(size, fault);
    else {
      output.set(block, done);
      done += length;
    }
    at = end + (flags & Flag.BLOCK_SUM ? SUM : 0);
  }
  if (done !== size) throw fault(`has ${done} bytes and not ${size}`);
  return output;
}

/** Decodes a block behind those before, to which it may refer. Returns the end of the output. */
export function decodeLz4Block(
  block: Uint8Array,
  output: Uint8Array,
  done: number,
  fault: DecodeFault,
): number {
  const { length } = block;
  let at = 0;
  const longer = (short: number): number => {
    if (short < 15) return short;
    let more = short;
    for (let byte = 255; byte === 255; more += byte) {
      if (at >= length) throw fault("ends within an LZ4 length");
      byte = block[at++]!;
    }
    return more;
  };
  while (at < length) {
    const token = block[at++]!;
    const literals = longer(token >> 4);
    if (at + literals > length) throw fault("ends within LZ4 literals");
    if (done + literals > output.length) throw larger(output.length, fault);
    output.set(block.subarray(at, at + literals), done);
    at += literals;
    done += literals;
    if (at === length) break; // the last sequence has no match
    if (at + 2 > length) throw fault("ends within an LZ4 offset");
    const offset = block[at]! | block[at + 1]! << 8;
    at += 2;
    const match = longer(token & 15) + LEAST_MATCH;
    if (offset === 0 || offset > done) {
      throw fault("refers to LZ4 output that does not precede it");
    }
    if (done + match > output.length) throw larger(output.length, fault);
    const end = done + match;
    const from = done - offset;
    if (match <= SHORT) {
      while (done < end) {
        output[done] = output[done - offset]!;
        done++;
      }
    }
    // What is copied may be what the copy has just made.
    while (done < end) {
      const part = Math.min(end - done, done - from);
      output.copyWithin(done, from, from + part);
      done += part;
    }
  }
  return done;
}

function larger(size: number, fault: DecodeFault): Error {
  return fault(`has more than its ${size} bytes`);
}
