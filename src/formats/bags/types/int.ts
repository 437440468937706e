import type { Generation } from "../dataset/dataset_names.ts";
import { ValueError } from "./value_error.ts";

/** The form of whole numbers in bytes. */
export interface IntOptions {
  /** Bytes of each number; as few as hold it unless given. */
  readonly size?: number | undefined;
  /** Numbers below 0 occur, in two's complement; not unless given. */
  readonly signed?: boolean | undefined;
  /** Which byte comes first; the lowest (`little`) unless given. */
  readonly endian?: "little" | "big" | undefined;
  /** Bytes of the number 0, where `size` is not given: 0 unless given. */
  readonly least?: 0 | 1 | undefined;
  /**
   * Whether the top bit of numbers that are not signed stays clear, where `size` is not given: they
   * get a highest byte of 0 where they would set it, and read the same where it is taken for a sign.
   * Not unless given.
   */
  readonly keepsTopBitClear?: boolean | undefined;
}

/** Encodes a whole number; what it is not told, the type's arguments say: `(size)` or `(size,endian)`. */
export type IntEncoder = (
  value: number | bigint,
  ...args: string[]
) => Uint8Array<ArrayBuffer>;

/** Decodes to a `number`, or a `bigint` beyond 2^53 - 1. */
export type IntDecoder = (
  bytes: Uint8Array,
  ...args: string[]
) => number | bigint;

/** Longer numbers are not written by Python without a size, nor read by granular from 0.10.3 on. */
const MOST_BYTES = 16;

/** Even where the type's arguments give a size. */
const LARGEST_SIZE = 65_535;

/**
 * How the generations write `int`, from granular's and bags' `formats.py`: unsigned in generation 1,
 * and 0 has no bytes; from granular 0.20 (generation 2) signed, and 0 has one byte.
 *
 * Granular 0.17.1 to 0.19, of generation 1, were signed, but failed to write a number with its
 * top bit set and any below 0, so that what they wrote reads the same either way. What older ones
 * wrote with its top bit set, they read as negative, and so do 0.20 to 0.21.2, which read
 * generation 1. So the encoder departs from the older ones' bytes there: it adds a byte of 0, which
 * every decoder takes that has to do without a size. A size that a spec gives is kept: only those
 * older ones know it.
 */
export function intOptionsOf(generation: Generation): IntOptions {
  return generation === 1
    ? { signed: false, least: 0, keepsTopBitClear: true }
    : { signed: true, least: 1 };
}

/**
 * Makes an encoder for whole numbers, to use instead of that of the generation.
 *
 * Without a size it takes the fewest bytes, as Python does; where that is signed and sets the top
 * bit, at which Python fails, it takes one more. More than 16 take a size.
 *
 * @param options What the encoder is to do.
 * @param type What errors call the type.
 * @throws {RangeError} Of the encoder: if the number does not fit.
 * @throws {TypeError} Of the encoder: if the value is no whole number.
 * @throws {ValueError} Of the encoder: if the type's arguments mean nothing.
 */
export function intEncoder(
  options: IntOptions = {},
  type = "int",
): IntEncoder {
  return (value, ...args) => {
    const { size, signed, endian, least } = withArguments(options, args, type);
    const number = wholeNumber(value, type);
    const hasSign = signed || options.keepsTopBitClear === true;
    const length = size ?? Math.max(least, fewestBytes(number, hasSign));
    if (size === undefined && length > MOST_BYTES) {
      throw new RangeError(
        `${
          bounded(number)
        } takes ${length} bytes, and readers take up to ${MOST_BYTES} without a ` +
          `size: store it as another type`,
      );
    }
    const bits = 8 * length;
    const kept = signed
      ? BigInt.asIntN(bits, number)
      : BigInt.asUintN(bits, number);
    if (kept !== number) {
      throw new RangeError(
        `${bounded(number)} does not fit in ${length} bytes, ${
          signed ? "signed" : "unsigned"
        }: give a number that does, or another size`,
      );
    }
    const digits = BigInt.asUintN(bits, number).toString(16)
      .padStart(2 * length, "0");
    const bytes = length === 0 ? new Uint8Array(0) : Uint8Array.fromHex(digits);
    return endian === "little" ? bytes.reverse() : bytes;
  };
}

/**
 * Makes a decoder for whole numbers, to use instead of that of the generation.
 *
 * @param options How the numbers were written.
 * @param type What errors call the type.
 * @throws {ValueError} Of the decoder: if there are not as many bytes as the size says, or, where
 * there is none, more than 16; or if the type's arguments mean nothing.
 *
 * @example Signed numbers that someone wrote in generation 1
 * ```ts
 * import { decodersOf, intDecoder } from "@recordfs/recordfs/bags";
 *
 * const decoders = { ...decodersOf(1), int: intDecoder({ signed: true }) };
 * console.log(decoders.int(Uint8Array.of(0xff))); // -1
 * ```
 */
export function intDecoder(
  options: IntOptions = {},
  type = "int",
): IntDecoder {
  return (bytes, ...args) => {
    const { size, signed, endian } = withArguments(options, args, type);
    const { length } = bytes;
    if (size === undefined ? length > MOST_BYTES : length !== size) {
      throw new ValueError(
        "bad-value",
        type,
        `it has ${length} bytes, not ${size ?? `up to ${MOST_BYTES}`}`,
      );
    }
    if (length <= 6) return smallNumber(bytes, signed, endian);
    const ordered = endian === "little" ? bytes.slice().reverse() : bytes;
    const unsigned = BigInt(`0x${ordered.toHex()}`);
    const number = signed ? BigInt.asIntN(8 * length, unsigned) : unsigned;
    const short = Number(number);
    return Number.isSafeInteger(short) ? short : number;
  };
}

/** Of up to 6 bytes, which a number holds exactly. */
function smallNumber(
  bytes: Uint8Array,
  signed: boolean,
  endian: "little" | "big",
): number {
  const { length } = bytes;
  let number = 0;
  for (let i = 0; i < length; i++) {
    number = number * 256 + bytes[endian === "big" ? i : length - 1 - i]!;
  }
  const range = 256 ** length;
  return signed && number >= range / 2 && length > 0 ? number - range : number;
}

function withArguments(
  { size, signed = false, endian = "little", least = 0 }: IntOptions,
  args: readonly string[],
  type: string,
) {
  if (args.length === 0) return { size, signed, endian, least } as const;
  const [digits, order = endian] = args;
  const isSize = /^ *\d{1,5} *$/.test(digits!) &&
    Number(digits) <= LARGEST_SIZE;
  if (isSize && isEndian(order) && args.length <= 2 && size === undefined) {
    return { size: Number(digits), signed, endian: order, least } as const;
  }
  throw new ValueError(
    "bad-arguments",
    type,
    `(${args.join(",").slice(0, 80)}); ${
      size === undefined
        ? `they are the number of bytes, up to ${LARGEST_SIZE}, and little or big`
        : "it takes none"
    }`,
  );
}

function isEndian(text: string): text is "little" | "big" {
  return text === "little" || text === "big";
}

function wholeNumber(value: unknown, type: string): bigint {
  if (typeof value === "bigint") return value;
  if (Number.isSafeInteger(value)) return BigInt(value as number);
  throw new TypeError(
    `A value of type '${type}' must be a whole number, and a bigint beyond 2^53, not ${
      typeof value === "number" ? value : `a ${typeof value}`
    }`,
  );
}

/** The fewest bytes that hold a number; with its sign where it has one. */
function fewestBytes(number: bigint, signed: boolean): number {
  const size = number < 0n ? -number - 1n : number;
  const bits = size === 0n ? 0 : size.toString(2).length;
  return Math.ceil((signed && (bits > 0 || number < 0n) ? bits + 1 : bits) / 8);
}

/** A number for messages, which may have millions of digits. */
function bounded(number: bigint): string {
  const digits = number.toString(16);
  return digits.length <= 80 ? String(number) : `0x${digits.slice(0, 40)}…`;
}
