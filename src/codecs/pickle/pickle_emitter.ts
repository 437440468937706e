import { ByteOutput } from "../byte_output.ts";
import { shortAsciiInto } from "../../base/short_ascii.ts";
import { Op } from "./opcodes.ts";
import { encodePickledText } from "./text.ts";

/** Protocol of the output, which Python 3.4 and later read. */
const PROTOCOL = 4;

const LARGEST_U8 = 0xff;
const LARGEST_U16 = 0xffff;
const LARGEST_U32 = 0xffffffff;

/** Emits a pickle in protocol 4; regular calls of {@linkcode PickleEmitter.take} keep the memory constant. */
export class PickleEmitter extends ByteOutput {
  #memoized = 0;
  readonly #protocol: number;

  /** @param within Protocol of an existing pickle that the output will be inserted into. */
  constructor(within?: number) {
    super();
    this.#protocol = within ?? PROTOCOL;
    if (within !== undefined) return;
    this.#with(Op.PROTO, 1, PROTOCOL);
  }

  int(value: number | bigint): void {
    const number = Number(value);
    if (number >= 0 && number <= LARGEST_U8) {
      this.#with(Op.BININT1, 1, number);
    } else if (number >= 0 && number <= LARGEST_U16) {
      this.#with(Op.BININT2, 2, number);
    } else if (number === (number | 0)) this.#with(Op.BININT, 4, number);
    else {
      const bytes = twosComplement(BigInt(value));
      this.#sized(Op.LONG1, Op.LONG4, Op.LONG4, bytes);
    }
  }

  /** Emits a class, in a form that every protocol has. */
  global(module: string, name: string): void {
    this.op(Op.GLOBAL);
    this.raw(new TextEncoder().encode(`${module}\n${name}\n`));
  }

  float(value: number): void {
    this.float64(Op.BINFLOAT, value);
  }

  /** Emits a `str`; preserves lone surrogates. */
  text(value: string): void {
    if (this.#protocol < 4 || !this.#shortText(value)) {
      this.encodedText(encodePickledText(value));
    }
  }

  /** Emits a `str` without a temporary copy; returns `false`, with nothing emitted, if it is long or not ASCII. */
  #shortText(value: string): boolean {
    const { length } = value;
    if (length > LARGEST_U8) return false;
    const at = this.grow(2 + length);
    if (!shortAsciiInto(value, this.memory, at + 2)) {
      this.clear(at);
      return false;
    }
    this.memory[at] = Op.SHORT_BINUNICODE;
    this.memory[at + 1] = length;
    return true;
  }

  /** Emits a `str` of UTF-8, with lone surrogates as three bytes. */
  encodedText(utf8: Uint8Array): void {
    const short = this.#protocol < 4 ? Op.BINUNICODE : Op.SHORT_BINUNICODE;
    this.#sized(short, Op.BINUNICODE, Op.BINUNICODE8, utf8);
  }

  bytes(value: Uint8Array): void {
    this.#sized(Op.SHORT_BINBYTES, Op.BINBYTES, Op.BINBYTES8, value);
  }

  /** Stores the last emitted value in the memo and returns its number. */
  memoize(): number {
    this.op(Op.MEMOIZE);
    return this.#memoized++;
  }

  recall(number: number): void {
    if (number <= LARGEST_U8) this.#with(Op.BINGET, 1, number);
    else this.#with(Op.LONG_BINGET, 4, number);
  }

  #sized(short: number, middle: number, long: number, bytes: Uint8Array): void {
    const { length } = bytes;
    if (length <= LARGEST_U8 && short !== middle) this.#with(short, 1, length);
    else if (length <= LARGEST_U32) this.#with(middle, 4, length);
    else this.#with(long, 8, length);
    this.raw(bytes);
  }

  /** Emits an opcode and a little-endian number of `width` bytes. */
  #with(opcode: number, width: number, number: number): void {
    const at = this.grow(1 + width);
    this.memory[at] = opcode;
    let rest = number;
    for (let k = at + 1; k <= at + width; k++) {
      this.memory[k] = rest; // lowest byte
      rest = Math.floor(rest / 256);
    }
  }
}

/** Shortest little-endian two's complement of an integer other than 0. */
function twosComplement(value: bigint): Uint8Array {
  // Plus one bit for the sign; negative values count the bits of ~, so that -(2^n) takes as many as 2^n - 1.
  const magnitude = value < 0n ? ~value : value;
  const nibbles = magnitude.toString(16);
  const bits = 4 * nibbles.length - Math.clz32(parseInt(nibbles[0]!, 16)) + 28;
  const length = Math.floor(bits / 8) + 1;
  const hex = BigInt.asUintN(8 * length, value).toString(16)
    .padStart(2 * length, "0");
  return Uint8Array.fromHex(hex).reverse();
}
