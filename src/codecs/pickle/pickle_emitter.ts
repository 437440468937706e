import { Op } from "./opcodes.ts";
import { encodePickledText } from "./text.ts";

/** Protocol that is emitted: read by Python from 3.4 on. */
const PROTOCOL = 4;

const LARGEST_U8 = 0xff;
const LARGEST_U16 = 0xffff;
const LARGEST_U32 = 0xffffffff;

/**
 * Emits the opcodes of a pickle, protocol 4, into memory that grows, or piece by piece: whoever
 * calls {@linkcode PickleEmitter.take} now and then gets a pickle of any size in constant memory.
 */
export class PickleEmitter {
  #bytes = new Uint8Array(256);
  #view = new DataView(this.#bytes.buffer);
  #length = 0;
  #memoized = 0;
  readonly #protocol: number;

  /**
   * Starts a pickle.
   *
   * @param within The protocol of a pickle that is there already, to which what is emitted is added.
   */
  constructor(within?: number) {
    this.#protocol = within ?? PROTOCOL;
    if (within !== undefined) return;
    this.#u8(Op.PROTO);
    this.#u8(PROTOCOL);
  }

  /** Number of bytes that {@linkcode PickleEmitter.take} would give. */
  get length(): number {
    return this.#length;
  }

  /** Gives what was emitted since the last call. */
  take(): Uint8Array<ArrayBuffer> {
    const taken = this.#bytes.slice(0, this.#length);
    this.#length = 0;
    return taken;
  }

  /** Emits an opcode without argument. */
  op(opcode: number): void {
    this.#u8(opcode);
  }

  /** Emits an `int`. */
  int(value: number | bigint): void {
    const number = Number(value);
    if (number >= 0 && number <= LARGEST_U8) {
      this.#u8(Op.BININT1);
      this.#u8(number);
    } else if (number >= 0 && number <= LARGEST_U16) {
      this.#u8(Op.BININT2);
      const at = this.#grow(2);
      this.#view.setUint16(at, number, true);
    } else if (number === (number | 0)) {
      this.#u8(Op.BININT);
      const at = this.#grow(4);
      this.#view.setInt32(at, number, true);
    } else this.#long(BigInt(value));
  }

  /** Emits a class; every protocol has this form of it. */
  global(module: string, name: string): void {
    this.#u8(Op.GLOBAL);
    this.#append(new TextEncoder().encode(`${module}\n${name}\n`));
  }

  /** Emits a `float`. */
  float(value: number): void {
    this.#u8(Op.BINFLOAT);
    const at = this.#grow(8);
    this.#view.setFloat64(at, value);
  }

  /** Emits a `str`; lone surrogates stay lone. */
  text(value: string): void {
    this.encodedText(encodePickledText(value));
  }

  /** Emits a `str` of UTF-8, in which lone surrogates stand as three bytes. */
  encodedText(utf8: Uint8Array): void {
    const short = this.#protocol < 4 ? Op.BINUNICODE : Op.SHORT_BINUNICODE;
    this.#sized(short, Op.BINUNICODE, Op.BINUNICODE8, utf8);
  }

  /** Emits a `bytes`. */
  bytes(value: Uint8Array): void {
    this.#sized(Op.SHORT_BINBYTES, Op.BINBYTES, Op.BINBYTES8, value);
  }

  /** Puts the value that was emitted last into the memo, and returns its number there. */
  memoize(): number {
    this.#u8(Op.MEMOIZE);
    return this.#memoized++;
  }

  /** Emits what the memo has under a number. */
  recall(number: number): void {
    if (number <= LARGEST_U8) {
      this.#u8(Op.BINGET);
      this.#u8(number);
    } else {
      this.#u8(Op.LONG_BINGET);
      const at = this.#grow(4);
      this.#view.setUint32(at, number, true);
    }
  }

  #long(value: bigint): void {
    const bytes = twosComplement(value);
    if (bytes.length <= LARGEST_U8) {
      this.#u8(Op.LONG1);
      this.#u8(bytes.length);
    } else {
      this.#u8(Op.LONG4);
      const at = this.#grow(4);
      this.#view.setInt32(at, bytes.length, true);
    }
    this.#append(bytes);
  }

  #sized(short: number, middle: number, long: number, bytes: Uint8Array): void {
    if (bytes.length <= LARGEST_U8 && short !== middle) {
      this.#u8(short);
      this.#u8(bytes.length);
    } else if (bytes.length <= LARGEST_U32) {
      this.#u8(middle);
      const at = this.#grow(4);
      this.#view.setUint32(at, bytes.length, true);
    } else {
      this.#u8(long);
      const at = this.#grow(8);
      this.#view.setBigUint64(at, BigInt(bytes.length), true);
    }
    this.#append(bytes);
  }

  #append(bytes: Uint8Array): void {
    const at = this.#grow(bytes.length);
    this.#bytes.set(bytes, at);
  }

  #u8(value: number): void {
    const at = this.#grow(1);
    this.#bytes[at] = value;
  }

  /** Makes room for `count` bytes more and returns where they go. */
  #grow(count: number): number {
    const at = this.#length;
    this.#length += count;
    if (this.#length > this.#bytes.length) {
      const larger = new Uint8Array(
        Math.max(this.#length, 2 * this.#bytes.length),
      );
      larger.set(this.#bytes.subarray(0, at));
      this.#bytes = larger;
      this.#view = new DataView(larger.buffer);
    }
    return at;
  }
}

/** The shortest little-endian two's complement of an integer other than 0. */
function twosComplement(value: bigint): Uint8Array {
  // The sign takes a bit of its own; of -(2^n) and its neighbour below, ~ has equally many digits.
  const magnitude = value < 0n ? ~value : value;
  const nibbles = magnitude.toString(16);
  const bits = 4 * nibbles.length - Math.clz32(parseInt(nibbles[0]!, 16)) + 28;
  const length = Math.floor(bits / 8) + 1;
  const hex = BigInt.asUintN(8 * length, value).toString(16)
    .padStart(2 * length, "0");
  return Uint8Array.fromHex(hex).reverse();
}
