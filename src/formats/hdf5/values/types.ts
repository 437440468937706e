import { viewOf } from "../../../base/view_of.ts";
import { decodeName } from "../../../base/names.ts";
import { CellFault } from "../../../codecs/cells/cell_fault.ts";
import { TypeClass } from "../layout.ts";
import type { Cursor } from "../read/metadata.ts";

/** Types inside of types, at most, and dimensions of arrays. */
const MOST_LEVELS = 32;
const MOST_DIMENSIONS = 32;

/** Type of elements, as plain data. */
export type ElementType =
  & {
    /** Bytes of an element as it is stored. */
    readonly size: number;
  }
  & (
    | {
      readonly is: "number";
      /** NumPy's letter: Booleans are `b`, complex numbers are `c`. */
      readonly letter: "b" | "c" | "f" | "i" | "u";
      readonly isBig: boolean;
      /** Whether it is an enumeration, whose byte order stays. */
      readonly isEnum: boolean;
      /** Position and number of the bits, unless a number takes all. */
      readonly bits?: readonly [first: number, count: number] | undefined;
    }
    /** Text of a fixed length. */
    | { readonly is: "string"; readonly isPadded: boolean }
    /** Text of any length. */
    | { readonly is: "text" }
    /** Opaque bytes, or a reference. */
    | { readonly is: "bytes" }
    | {
      readonly is: "struct";
      readonly members: readonly Member[];
      /** Length of their names together. */
      readonly names: number;
    }
    /** Values of any number. */
    | { readonly is: "list"; readonly base: ElementType }
    | {
      readonly is: "array";
      readonly base: ElementType;
      readonly shape: readonly number[];
      /** Number of its dimensions, and of arrays in it. */
      readonly dimensions: number;
    }
    | { readonly is: "odd"; readonly why: string }
  );

interface Member {
  readonly name: string;
  readonly offset: number;
  readonly type: ElementType;
}

/** Padding of strings by spaces (IV.A.2.d, "String"). */
const SPACES = 2;
/** IEEE floats by their size: sign, start and size of the exponent, start and size of the mantissa, bias. */
const FLOATS: ReadonlyMap<number, string> = new Map([
  [2, "15 10 5 0 10 15"],
  [4, "31 23 8 0 23 127"],
  [8, "63 52 11 0 52 1023"],
]);

/** Reads the message of a type (IV.A.2.d). */
export function readType(cursor: Cursor, level = 0): ElementType {
  if (level > MOST_LEVELS) throw new CellFault("has types nested too deep");
  const first = cursor.u8();
  const version = first >> 4;
  const flags = cursor.uint(3);
  const size = cursor.u32();
  if (size === 0) throw new CellFault("has elements of no size");
  const inner = () => readType(cursor, level + 1);
  const odd = (why: string): ElementType => ({ is: "odd", size, why });
  const number = (
    letter: "b" | "c" | "f" | "i" | "u",
    isBig: boolean,
    isEnum = false,
  ) => ({ is: "number", size, letter, isBig, isEnum }) as const;
  switch (first & 15) {
    case TypeClass.INTEGER:
    case TypeClass.BITFIELD: {
      const bits = [cursor.u16(), cursor.u16()] as const;
      if (![1, 2, 4, 8].includes(size) || bits[0] + bits[1] > 8 * size) {
        return odd(`has numbers of ${size} bytes`);
      }
      const isSigned = (first & 15) === TypeClass.INTEGER && (flags & 8) !== 0;
      const made = number(isSigned ? "i" : "u", (flags & 1) !== 0);
      return bits[1] === 8 * size ? made : { ...made, bits };
    }
    case TypeClass.FLOAT: {
      const sign = flags >> 8 & 0xff;
      cursor.skip(4);
      const form = [sign, ...cursor.take(4), cursor.u32()].join(" ");
      const isSound = FLOATS.get(size) === form && (flags & 0x40) === 0;
      return isSound
        ? number("f", (flags & 1) !== 0)
        : odd(`has floats of ${size} bytes that are not of IEEE`);
    }
    case TypeClass.STRING:
      return { is: "string", size, isPadded: (flags & 15) === SPACES };
    case TypeClass.OPAQUE:
      cursor.skip(flags & 0xff);
      return { is: "bytes", size };
    case TypeClass.REFERENCE:
      return { is: "bytes", size };
    case TypeClass.COMPOUND: {
      const members: Member[] = [];
      // Members do not overlap: otherwise, a value might be far longer than its bytes.
      let left = size;
      let names = 0;
      for (let i = 0; i < (flags & 0xffff); i++) {
        const bytes = cursor.name(version < 3 ? 8 : 1);
        const name = decodeName(bytes, 0, bytes.length);
        const offset = cursor.uint(version < 3 ? 4 : bytesFor(size));
        const shape: number[] = [];
        if (version === 1) {
          const rank = cursor.u8();
          const own = cursor.skip(11).cursor(16);
          for (let k = 0; k < Math.min(4, rank); k++) shape.push(own.u32());
        }
        const base = inner();
        const type = shape.length === 0 ? base : arrayOf(base, shape);
        left -= type.size;
        if (offset + type.size > size || left < 0) {
          throw new CellFault("has members outside of their structure");
        }
        names += name.length;
        members.push({ name, offset, type });
      }
      return isComplex(size, members)
        ? number("c", (members[0]!.type as { isBig: boolean }).isBig)
        : { is: "struct", size, members, names };
    }
    case TypeClass.ENUM: {
      const base = inner();
      const count = flags & 0xffff;
      const names = Array.from({ length: count }, () => {
        const bytes = cursor.name(version < 3 ? 8 : 1);
        return decodeName(bytes, 0, bytes.length);
      });
      const values = cursor.take(count * base.size);
      if (base.is !== "number") return odd("has an enumeration of no numbers");
      // What h5py stores Booleans as.
      const isBoolean = size === 1 && count === 2 &&
        names[values[0]!] === "FALSE" && names[values[1]!] === "TRUE";
      return isBoolean
        ? number("b", false, true)
        : { ...base, size, isEnum: true };
    }
    case TypeClass.VLEN: {
      const base = inner();
      return (flags & 15) === 1
        ? { is: "text", size }
        : { is: "list", size, base };
    }
    case TypeClass.ARRAY: {
      const rank = cursor.u8();
      if (version < 3) cursor.skip(3);
      const shape = Array.from({ length: rank }, () => cursor.u32());
      if (version < 3) cursor.skip(4 * rank);
      return arrayOf(inner(), shape, size);
    }
    default:
      throw new CellFault("has elements of an unknown type", "unsupported");
  }
}

function arrayOf(
  base: ElementType,
  shape: readonly number[],
  size = product(shape) * base.size,
): ElementType {
  const inner = base.is === "array" ? base.dimensions : 0;
  const dimensions = shape.length + inner;
  const isSound = product(shape) * base.size === size &&
    dimensions <= MOST_DIMENSIONS;
  if (!isSound) throw new CellFault("has arrays of a wrong size");
  return { is: "array", size, base, shape, dimensions };
}

/** Whether members are those of the compound that h5py stores complex numbers as. */
function isComplex(size: number, members: readonly Member[]): boolean {
  return (size === 8 || size === 16) && members.length === 2 &&
    members.every(({ name, offset, type }, i) =>
      name === "ri"[i] && offset === i * size / 2 && type.is === "number" &&
      type.letter === "f" && type.size === size / 2
    ) &&
    (members[0]!.type as { isBig: boolean }).isBig ===
      (members[1]!.type as { isBig: boolean }).isBig;
}

function bytesFor(size: number): number {
  return Math.max(1, Math.ceil(Math.log2(size + 1) / 8));
}

export function product(lengths: readonly number[]): number {
  return lengths.reduce((product, length) => product * length, 1);
}

/** Elements that NumPy has a type for. */
export interface NumpyType {
  /** NumPy's name. */
  readonly dtype: string;
  /** Dimensions of an element, if its type is an array. */
  readonly shape: readonly number[];
  /** Bytes that are reversed, since they are stored big-endian; 1 if none are. */
  readonly swapped: number;
  /** Bits of a number that does not take all. */
  readonly bits?: readonly [first: number, count: number] | undefined;
}

/** Returns the NumPy type of elements, little-endian unless they are enumerations; `undefined` if there is none. */
export function numpyType(type: ElementType): NumpyType | undefined {
  const { size } = type;
  switch (type.is) {
    case "number": {
      const { letter, isBig, isEnum, bits } = type;
      const unit = letter === "c" ? size / 2 : size;
      const isKept = isEnum && bits === undefined;
      const order = unit === 1 ? "|" : isBig && isKept ? ">" : "<";
      const swapped = isBig && !isKept ? unit : 1;
      return { dtype: `${order}${letter}${size}`, shape: [], swapped, bits };
    }
    case "string":
      return { dtype: `|S${size}`, shape: [], swapped: 1 };
    case "bytes":
      return { dtype: `|V${size}`, shape: [], swapped: 1 };
    case "array": {
      const inner = numpyType(type.base);
      return inner && { ...inner, shape: [...type.shape, ...inner.shape] };
    }
    default:
      return undefined;
  }
}

/** Converts stored elements to what {@linkcode numpyType} says, in place. */
export function toNumpy(
  { dtype, swapped, bits }: NumpyType,
  bytes: Uint8Array,
): void {
  for (let at = 0; swapped > 1 && at < bytes.length; at += swapped) {
    for (let i = 0; i < swapped / 2; i++) {
      const other = at + swapped - 1 - i;
      [bytes[at + i], bytes[other]] = [bytes[other]!, bytes[at + i]!];
    }
  }
  if (bits === undefined) return;
  const size = Number(dtype.slice(2));
  const [first, count] = bits;
  const part = dtype[1] === "i" ? BigInt.asIntN : BigInt.asUintN;
  const view = viewOf(bytes);
  for (let at = 0; at < bytes.length; at += size) {
    let value = 0n;
    for (let i = size - 1; i >= 0; i--) {
      value = value << 8n | BigInt(bytes[at + i]!);
    }
    value = part(count, value >> BigInt(first));
    for (let i = 0; i < size; i++, value >>= 8n) {
      view.setUint8(at + i, Number(value & 0xffn));
    }
  }
}
