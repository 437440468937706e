import type { Generation } from "../dataset/dataset_names.ts";
import { ValueError } from "./value_error.ts";

/** Byte representation of integers. */
export type IntOptions = NonNullable<Parameters<typeof intEncoder>[0]>;

/** Longest number without a size: Python writes no longer ones, and granular since 0.10.3 reads none. */
const MOST_BYTES = 16;

/** Largest size that the type's arguments may give. */
const LARGEST_SIZE = 65_535;

/**
 * Returns the options of `int` in a generation, from granular's and bags' `formats.py`. In generation 1, numbers are
 * unsigned, and 0 has no bytes. Since granular 0.20 (generation 2), they are signed, and 0 has one byte.
 *
 * Granular 0.17.1 to 0.19, of generation 1, were signed, but failed to write numbers below 0 or with the top bit set,
 * so what they wrote reads the same either way. Numbers with the top bit set that older versions wrote are negative to
 * them, and to 0.20 to 0.21.2, which read generation 1. There the encoder departs from the older versions' bytes: it
 * adds a byte of 0, which every decoder without a size accepts. A size in the spec is kept: only the older versions
 * know it.
 */
export function intOptionsOf(generation: Generation): IntOptions {
  return generation === 1
    ? { signed: false, least: 0, keepsTopBitClear: true }
    : { signed: true, least: 1 };
}

/**
 * Returns an encoder for integers, to use instead of that of the generation.
 *
 * Without a size it uses the fewest bytes, as Python does. For a signed number that would set the top bit, where Python
 * fails, it uses one more. More than 16 bytes require a size. The type's arguments, `(size)` or `(size,endian)`, supply
 * missing options.
 *
 * @param options Byte representation.
 * @param type Name of the type in errors.
 * @throws {RangeError} By the encoder: if the number does not fit.
 * @throws {TypeError} By the encoder: if the value is not an integer.
 * @throws {ValueError} By the encoder: if the type's arguments are invalid.
 */
export function intEncoder(
  options: {
    /** Bytes of each number. Defaults to as few as hold it. */
    readonly size?: number | undefined;
    /** Whether numbers are signed, in two's complement. Defaults to `false`. */
    readonly signed?: boolean | undefined;
    /** Byte order. Defaults to `little`. */
    readonly endian?: "little" | "big" | undefined;
    /** Bytes of the number 0 if `size` is not given. Defaults to 0. */
    readonly least?: 0 | 1 | undefined;
    /**
     * Whether the top bit of unsigned numbers without a `size` stays clear: a number that would set it gets a most
     * significant byte of 0, and so reads the same when taken as signed. Defaults to `false`.
     */
    readonly keepsTopBitClear?: boolean | undefined;
  } = {},
  type = "int",
): (
  value: number | bigint,
  ...args: string[]
) => Uint8Array<ArrayBuffer> {
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
 * Returns a decoder for integers, to use instead of that of the generation: to a `number`, or to a `bigint` beyond
 * 2^53 - 1. The type's arguments supply missing options.
 *
 * @param options Byte representation.
 * @param type Name of the type in errors.
 * @throws {ValueError} By the decoder: if the number of bytes is not the size, or exceeds 16 without a size; or if the
 * type's arguments are invalid.
 *
 * @example Signed numbers in generation 1
 * ```ts
 * import { decodersOf, intDecoder } from "@recordfs/recordfs/bags";
 *
 * const decoders = { ...decodersOf(1), int: intDecoder({ signed: true }) };
 * console.log(decoders.int(Uint8Array.of(0xff))); // -1
 * ```
 */
export function intDecoder(
  options: NonNullable<Parameters<typeof intEncoder>[0]> = {},
  type = "int",
): (bytes: Uint8Array, ...args: string[]) => number | bigint {
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

/** Decodes up to 6 bytes, which a `number` holds exactly. */
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

/** Returns the fewest bytes that hold a number, with a sign bit if it is signed. */
function fewestBytes(number: bigint, signed: boolean): number {
  const size = number < 0n ? -number - 1n : number;
  const bits = size === 0n ? 0 : size.toString(2).length;
  return Math.ceil((signed && (bits > 0 || number < 0n) ? bits + 1 : bits) / 8);
}

/** Formats a number, which may have millions of digits, for messages. */
function bounded(number: bigint): string {
  const digits = number.toString(16);
  return digits.length <= 80 ? String(number) : `0x${digits.slice(0, 40)}…`;
}
