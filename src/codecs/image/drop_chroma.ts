/**
 * Turns a colour JPEG into a gray one by dropping chroma: luminance codes are copied bit for bit, nothing is decoded.
 *
 * For encoders that only know colour. Reads what they write: baseline, three components, no subsampling, no restart
 * markers.
 *
 * @module
 */

/** Walks the codes of entropy-coded data and copies some of them. */
class CodeCopier {
  readonly #from: Uint8Array;
  readonly #to: Uint8Array<ArrayBuffer>;
  #at: number;
  #end: number;
  /** Bit buffers of input and output. */
  #ahead = { bits: 0, count: 0 };
  #behind = { bits: 0, count: 0 };

  constructor(
    from: Uint8Array,
    at: number,
    to: Uint8Array<ArrayBuffer>,
    end: number,
  ) {
    this.#from = from;
    this.#at = at;
    this.#to = to;
    this.#end = end;
  }

  passBlock(dc: HuffmanTable, ac: HuffmanTable, copies: boolean): void {
    this.#pass(dc, copies);
    for (let k = 1; k < 64;) {
      const symbol = this.#pass(ac, copies);
      if (symbol === 0) return; // the rest of the block is 0
      k += (symbol >> 4) + 1;
    }
  }

  /** Pads the last byte and ends the JPEG. */
  end(): Uint8Array<ArrayBuffer> {
    const { count } = this.#behind;
    if (count > 0) this.#write(0x7f >> (count - 1), 8 - count);
    this.#to.set([0xff, 0xd9], this.#end);
    return this.#to.slice(0, this.#end + 2);
  }

  /** Consumes one code and the extra bits it announces, and returns its symbol. */
  #pass(table: HuffmanTable, copies: boolean): number {
    const entry = table[this.#peek()]!;
    const symbol = entry & 0xff;
    this.#skip(entry >> 8, copies);
    this.#skip(symbol & 15, copies);
    return symbol;
  }

  /** Next 16 bits, 0 beyond the end. */
  #peek(): number {
    const ahead = this.#ahead;
    while (ahead.count < 16) {
      const byte = this.#from[this.#at++] ?? 0;
      if (byte === 0xff) this.#at++; // a stuffed 0 follows
      ahead.bits = (ahead.bits << 8 | byte) & 0xffffff;
      ahead.count += 8;
    }
    return ahead.bits >> (ahead.count - 16) & 0xffff;
  }

  #skip(count: number, copies: boolean): void {
    if (copies) this.#write(this.#peek() >> (16 - count), count);
    else this.#peek();
    this.#ahead.count -= count;
  }

  #write(bits: number, count: number): void {
    const behind = this.#behind;
    behind.bits = (behind.bits << count | bits) & 0xffffff;
    behind.count += count;
    while (behind.count >= 8) {
      behind.count -= 8;
      const byte = behind.bits >> behind.count & 0xff;
      this.#to[this.#end++] = byte;
      if (byte === 0xff) this.#to[this.#end++] = 0;
    }
  }
}

/** For any 16 bits: the length of the code they begin with × 256, plus its symbol. */
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

/** Removes the chroma of a baseline JPEG with three components, no subsampling, and one table per segment. */
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
      if ((segment[0]! & 15) !== 0) keep = []; // tables 1 are for chroma
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
  const copier = new CodeCopier(jpeg, at, out, to);
  const [dc, ac] = [tables.get(0x00)!, tables.get(0x10)!];
  const [chromaDc, chromaAc] = [tables.get(0x01)!, tables.get(0x11)!];
  for (let i = 0; i < blocks; i++) {
    copier.passBlock(dc, ac, true);
    copier.passBlock(chromaDc, chromaAc, false);
    copier.passBlock(chromaDc, chromaAc, false);
  }
  return copier.end();
}
