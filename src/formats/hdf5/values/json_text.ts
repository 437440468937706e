import { utf8Text } from "../../../base/utf8.ts";
import { TypeClass } from "../layout.ts";
import type { Metadata } from "../read/library.ts";
import { isBoolean } from "./types.ts";

/** Limit of a text that is made, in characters. */
const MOST_TEXT = 16 << 20;

/** A value cannot be shown as text. */
export class TextFault extends Error {}

/** Makes text of values in the library's memory, which it has filled. */
export class ValueText {
  readonly #heap: Uint8Array;
  readonly #view: DataView;
  /** Whether the library has made numbers little-endian that were not. */
  readonly #isConverted: boolean;
  #left = MOST_TEXT;

  /** @param type Type of the values. */
  constructor(heap: Uint8Array, type: Metadata) {
    this.#heap = heap;
    this.#view = new DataView(heap.buffer);
    this.#isConverted = type.type !== TypeClass.ENUM &&
      ordersIn(type).every((isLittle) => !isLittle);
  }

  /** Returns values of a shape as JSON: lists in lists. */
  json(type: Metadata, shape: readonly number[], at: number): string {
    const [length, ...inner] = shape;
    if (length === undefined) return this.#value(type, at);
    const step = inner.reduce((product, length) => product * length, type.size);
    return this.#list(length, (i) => this.json(type, inner, at + i * step));
  }

  /** Returns a string. */
  text({ size, vlen, strpad }: Metadata, at: number): string {
    if (vlen) {
      const start = this.#view.getUint32(at, true);
      return this.#utf8(start, start === 0 ? 0 : this.#heap.indexOf(0, start));
    }
    const end = this.#heap.subarray(at, at + size).indexOf(0);
    const text = this.#utf8(at, end < 0 ? at + size : at + end);
    return strpad === SPACES ? text.replace(/ +$/, "") : text;
  }

  /** Returns where values of a variable length are: start and number. */
  range({ vlen_type: base }: Metadata, at: number): [number, number] {
    const length = this.#view.getUint32(at, true);
    const start = this.#view.getUint32(at + 4, true);
    if (start + length * base!.size > this.#heap.length) {
      throw new TextFault("has a value of a wrong length");
    }
    return [start, length];
  }

  #value(type: Metadata, at: number): string {
    switch (type.type) {
      case TypeClass.STRING:
        return JSON.stringify(this.text(type, at));
      case TypeClass.COMPOUND: {
        const parts = type.compound_type!.members.map((member) =>
          `${JSON.stringify(member.name)}:${
            this.#value(member, at + member.offset)
          }`
        );
        return this.#taken(`{${parts.join(",")}}`);
      }
      case TypeClass.ARRAY:
        return this.json(type.array_type!, type.array_type!.shape!, at);
      case TypeClass.VLEN: {
        const base = type.vlen_type!;
        const [start, length] = this.range(type, at);
        return this.#list(
          length,
          (i) => this.#value(base, start + i * base.size),
        );
      }
      case TypeClass.OPAQUE:
        return JSON.stringify(this.#heap.subarray(at, at + type.size).toHex());
      case TypeClass.REFERENCE:
        return `{"reference":"${
          this.#heap.subarray(at, at + type.size).toHex()
        }"}`;
      default:
        return this.#taken(this.#number(type, at));
    }
  }

  #number(type: Metadata, at: number): string {
    const view = this.#view;
    const { size, littleEndian } = type;
    const isLittle = littleEndian || this.#isConverted;
    if (type.type === TypeClass.FLOAT) {
      if (size === 8) return floatText(view.getFloat64(at, isLittle), 17);
      if (size === 4) return floatText(view.getFloat32(at, isLittle), 9);
      if (size === 2) return floatText(view.getFloat16(at, isLittle), 5);
      throw new TextFault(`has floats of ${size} bytes, which are unsupported`);
    }
    if (isBoolean(type)) return view.getUint8(at) === 0 ? "false" : "true";
    if (![1, 2, 4, 8].includes(size)) {
      throw new TextFault(
        `has numbers of ${size} bytes, which are unsupported`,
      );
    }
    let value = 0n;
    for (let i = 0; i < size; i++) {
      const byte = view.getUint8(at + (isLittle ? size - 1 - i : i));
      value = value << 8n | BigInt(byte);
    }
    return `${type.signed ? BigInt.asIntN(8 * size, value) : value}`;
  }

  #list(length: number, itemOf: (i: number) => string): string {
    this.#take(length);
    return this.#taken(
      `[${Array.from({ length }, (_, i) => itemOf(i)).join(",")}]`,
    );
  }

  #utf8(start: number, end: number): string {
    if (end < start) throw new TextFault("has a string without its end");
    return this.#taken(utf8Text(this.#heap.slice(start, end)));
  }

  #taken(text: string): string {
    this.#take(text.length);
    return text;
  }

  #take(length: number): void {
    this.#left -= length;
    if (this.#left >= 0) return;
    throw new TextFault(`has a text of more than ${MOST_TEXT} characters`);
  }
}

/** Lists whether the numbers in a type are little-endian: of mixed orders, the library converts none. */
function ordersIn(type: Metadata): boolean[] {
  const { compound_type: compound } = type;
  const inner = type.array_type ?? type.vlen_type;
  if (compound !== undefined) return compound.members.flatMap(ordersIn);
  if (inner !== undefined) return ordersIn(inner);
  const hasOrder = type.size > 1 && type.type !== TypeClass.STRING &&
    type.type !== TypeClass.OPAQUE && type.type !== TypeClass.REFERENCE;
  return hasOrder ? [type.littleEndian] : [];
}

/** Padding of strings by spaces (`H5T_STR_SPACEPAD`). */
const SPACES = 2;

/** Returns the shortest decimal of a float of so many digits; not-a-number and infinity as null, which JSON lacks. */
function floatText(value: number, digits: number): string {
  if (!Number.isFinite(value)) return "null";
  if (digits === 17) return floatWord(value);
  const round = digits === 9 ? Math.fround : Math.f16round;
  for (let few = 1; few < digits; few++) {
    const short = Number(value.toPrecision(few));
    if (round(short) === value) return floatWord(short);
  }
  return floatWord(value);
}

/** JSON of a float, which an integer is not taken for. */
function floatWord(value: number): string {
  if (Object.is(value, -0)) return "-0.0";
  return Number.isInteger(value) && Math.abs(value) < 1e21
    ? `${value}.0`
    : `${value}`;
}
