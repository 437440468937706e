/**
 * Makes a gray JPEG of a colour one by leaving the colour out: the codes of the luminance are
 * copied bit for bit, nothing is decoded.
 *
 * For encoders that know colour only. Reads what such encoders write: baseline, three components,
 * no subsampling, no restart markers.
 *
 * @module
 */

/** Reads bits of entropy-coded data. */
class BitReader {
  readonly #bytes: Uint8Array;
  #at: number;
  #bits = 0;
  #count = 0;

  constructor(bytes: Uint8Array, at: number) {
    this.#bytes = bytes;
    this.#at = at;
  }

  /** The next 16 bits; beyond the end they are 0. */
  peek(): number {
    while (this.#count < 16) {
      const byte = this.#bytes[this.#at++] ?? 0;
      if (byte === 0xff) this.#at++; // a stuffed 0 follows
      this.#bits = (this.#bits << 8 | byte) & 0xffffff;
      this.#count += 8;
    }
    return this.#bits >> (this.#count - 16) & 0xffff;
  }

  skip(count: number): void {
    this.#count -= count;
  }
}

/** Writes entropy-coded data. */
class BitWriter {
  readonly #bytes: Uint8Array<ArrayBuffer>;
  #at: number;
  #bits = 0;
  #count = 0;

  constructor(bytes: Uint8Array<ArrayBuffer>, at: number) {
    this.#bytes = bytes;
    this.#at = at;
  }

  write(bits: number, count: number): void {
    this.#bits = (this.#bits << count | bits) & 0xffffff;
    this.#count += count;
    while (this.#count >= 8) {
      this.#count -= 8;
      const byte = this.#bits >> this.#count & 0xff;
      this.#bytes[this.#at++] = byte;
      if (byte === 0xff) this.#bytes[this.#at++] = 0;
    }
  }

  /** Fills the last byte up and ends the JPEG. */
  end(): Uint8Array<ArrayBuffer> {
    if (this.#count > 0) this.write(0x7f >> (this.#count - 1), 8 - this.#count);
    this.#bytes[this.#at++] = 0xff;
    this.#bytes[this.#at++] = 0xd9;
    return this.#bytes.slice(0, this.#at);
  }
}

/** For any 16 bits, the length of the code they begin with, times 256, plus its symbol. */
type HuffmanTable = Uint16Array;

function huffmanTable(segment: Uint8Array): HuffmanTable {
  const table = new Uint16Array(1 << 16);
  let from = 0;
  let symbol = 17;
  for (let length = 1; length <= 16; length++) {
    for (let i = 0; i < segment[length]!; i++) {
      const to = from + (1 << (16 - length));
      table.fill(length << 8 | segment[symbol++]!, from, to);
      from = to;
    }
  }
  return table;
}

/**
 * Leaves the colour out of a JPEG.
 *
 * @param jpeg Baseline, three components without subsampling, one table in each segment.
 */
export function dropChroma(jpeg: Uint8Array): Uint8Array<ArrayBuffer> {
  const out = new Uint8Array(jpeg.length);
  const tables = new Map<number, HuffmanTable>();
  let at = 2;
  let to = 2;
  let blocks = 0;
  out.set([0xff, 0xd8]);
  for (;;) {
    const code = jpeg[at + 1]!;
    const length = jpeg[at + 2]! << 8 | jpeg[at + 3]!;
    const segment = jpeg.subarray(at + 4, at + 2 + length);
    let keep: ArrayLike<number> = jpeg.subarray(at, at + 2 + length);
    if (code === 0xc4) {
      tables.set(segment[0]!, huffmanTable(segment));
      if ((segment[0]! & 15) !== 0) keep = []; // tables 1 are those of the colour
    } else if (code === 0xdb && (segment[0]! & 15) !== 0) {
      keep = [];
    } else if (code === 0xc0) {
      blocks = ((segment[1]! << 8 | segment[2]!) + 7 >> 3) *
        ((segment[3]! << 8 | segment[4]!) + 7 >> 3);
      keep = [0xff, code, 0, 11, ...segment.subarray(0, 5), 1, 1, 0x11, 0];
    } else if (code === 0xda) {
      keep = [0xff, code, 0, 8, 1, 1, 0, 0, 63, 0];
    }
    out.set(keep, to);
    to += keep.length;
    at += 2 + length;
    if (code === 0xda) break;
  }
  const reader = new BitReader(jpeg, at);
  const writer = new BitWriter(out, to);
  const [dc, ac] = [tables.get(0x00)!, tables.get(0x10)!];
  const [chromaDc, chromaAc] = [tables.get(0x01)!, tables.get(0x11)!];
  for (let i = 0; i < blocks; i++) {
    passBlock(reader, dc, ac, writer);
    passBlock(reader, chromaDc, chromaAc, undefined);
    passBlock(reader, chromaDc, chromaAc, undefined);
  }
  return writer.end();
}

/** Goes over one block's codes, and copies them where there is a writer. */
function passBlock(
  reader: BitReader,
  dc: HuffmanTable,
  ac: HuffmanTable,
  writer: BitWriter | undefined,
): void {
  pass(reader, dc, writer);
  for (let k = 1; k < 64;) {
    const symbol = pass(reader, ac, writer);
    if (symbol === 0) return; // the rest of the block is 0
    k += (symbol >> 4) + 1;
  }
}

/** Goes over one code and the bits whose number it says, and gives its symbol. */
function pass(
  reader: BitReader,
  table: HuffmanTable,
  writer: BitWriter | undefined,
): number {
  const bits = reader.peek();
  const entry = table[bits]!;
  const [length, symbol] = [entry >> 8, entry & 0xff];
  writer?.write(bits >> (16 - length), length);
  reader.skip(length);
  const more = symbol & 15;
  if (more > 0) {
    writer?.write(reader.peek() >> (16 - more), more);
    reader.skip(more);
  }
  return symbol;
}
