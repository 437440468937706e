import { viewOf } from "../../base/view_of.ts";
import { LONGEST_PICKLE } from "./columns.ts";
import { PickleError } from "./pickle_error.ts";

/** Bounds-checked reader of a pickle's arguments. */
export class ByteReader {
  readonly bytes: Uint8Array;
  position = 0;
  readonly #view: DataView;

  /** @throws {PickleError} If the pickle is longer than columns can index. */
  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
    if (bytes.byteLength > LONGEST_PICKLE) {
      const why =
        `it has ${bytes.byteLength} bytes, more than the limit of 2 GiB`;
      throw new PickleError("bad-pickle", LONGEST_PICKLE, why);
    }
    this.#view = viewOf(bytes);
  }

  bad(message: string): never {
    throw new PickleError("bad-pickle", this.position, message);
  }

  /** Skips `count` bytes and returns their offset. */
  skip(count: number, what: string): number {
    const start = this.position;
    if (count > this.bytes.length - start) {
      this.bad(
        `the pickle is truncated: ${what} of ${count} bytes exceeds the ` +
          `${this.bytes.length - start} that are left`,
      );
    }
    this.position = start + count;
    return start;
  }

  u8(): number {
    return this.bytes[this.skip(1, "an argument")]!;
  }

  u16(): number {
    return this.#view.getUint16(this.skip(2, "an argument"), true);
  }

  u32(): number {
    return this.#view.getUint32(this.skip(4, "an argument"), true);
  }

  i32(): number {
    return this.#view.getInt32(this.skip(4, "an argument"), true);
  }

  /** Reads a 64-bit length; inexact beyond 2^53, which exceeds any pickle anyway. */
  u64(): number {
    const start = this.skip(8, "an argument");
    return this.#view.getUint32(start, true) +
      this.#view.getUint32(start + 4, true) * 2 ** 32;
  }

  /** Reads a big-endian double (opcode BINFLOAT). */
  f64(): number {
    return this.#view.getFloat64(this.skip(8, "a float"), false);
  }

  /** Reads an ASCII or Latin-1 line of protocol 0, without its newline. */
  line(): string {
    const start = this.position;
    const end = this.bytes.indexOf(0x0a, start);
    if (end < 0) this.bad("the pickle is truncated inside a line");
    this.position = end + 1;
    const { buffer, byteOffset } = this.bytes;
    return Buffer.from(buffer, byteOffset + start, end - start)
      .toString("latin1");
  }
}

/** Limit of an integer literal's digits, Python's own for `int()`. */
const MOST_DIGITS = 4300;

/** Parses INT or LONG's decimal literal, or returns `undefined`. */
export function parseInteger(text: string): number | bigint | undefined {
  if (!/^[+-]?\d+$/.test(text) || text.length > MOST_DIGITS) return undefined;
  const number = Number(text);
  return Number.isSafeInteger(number) ? number : BigInt(text);
}

/** Parses FLOAT's literal, or returns `undefined`. */
export function parseFloat64(text: string): number | undefined {
  const word = text.trim().replace(/^([+-]?)inf(inity)?$/i, "$1Infinity");
  if (/^[+-]?nan$/i.test(word)) return NaN;
  const number = word === "" ? NaN : Number(word);
  return Number.isNaN(number) ? undefined : number;
}

/** Parses UNICODE's raw-unicode-escape text: only `\uXXXX` and `\UXXXXXXXX` are escapes. */
export function parseRawUnicode(text: string): string | undefined {
  const parts: string[] = [];
  let done = 0;
  for (let at = text.indexOf("\\"); at >= 0; at = text.indexOf("\\", at)) {
    const digits = { u: 4, U: 8 }[text[at + 1] ?? ""];
    if (digits === undefined) {
      at += 2; // a double backslash, or one before anything else, is literal
      continue;
    }
    const hex = text.slice(at + 2, at + 2 + digits);
    const code = parseInt(hex, 16);
    if (!/^[0-9a-fA-F]+$/.test(hex) || hex.length < digits || code > 0x10ffff) {
      return undefined;
    }
    parts.push(text.slice(done, at), String.fromCodePoint(code));
    at += 2 + digits;
    done = at;
  }
  return parts.join("") + text.slice(done);
}

const ESCAPES: Record<string, string> = {
  "\\": "\\",
  "'": "'",
  '"': '"',
  n: "\n",
  r: "\r",
  t: "\t",
  a: "\x07",
  b: "\b",
  f: "\f",
  v: "\v",
};

/** Parses STRING's quoted Python literal, or returns `undefined`. */
export function parseQuoted(text: string): string | undefined {
  const match = /^(['"])(.*)\1$/s.exec(text.trim());
  if (match === null) return undefined;
  return match[2]!.replace(
    /\\(x[0-9a-fA-F]{2}|[0-7]{1,3}|[\s\S])/g,
    (all, escape: string) => {
      if (escape.length > 1 && escape.startsWith("x")) {
        return String.fromCharCode(parseInt(escape.slice(1), 16));
      }
      if (/^[0-7]/.test(escape)) {
        return String.fromCharCode(parseInt(escape, 8) & 0xff);
      }
      return ESCAPES[escape] ?? all;
    },
  );
}

/** Decodes a little-endian two's complement integer (LONG1, LONG4). */
export function parseTwosComplement(bytes: Uint8Array): number | bigint {
  const digits = bytes.slice().reverse().toHex();
  const big = BigInt.asIntN(bytes.length * 8, BigInt(`0x${digits || 0}`));
  const number = Number(big);
  return Number.isSafeInteger(number) ? number : big;
}
