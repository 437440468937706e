import { viewOf } from "../../../base/view_of.ts";
import type { CellField } from "../../../codecs/cells/cell_field.ts";
import { CellFault } from "../../../codecs/cells/cell_fault.ts";
import type { Steps } from "../../../io/concurrency/steps.ts";
import type { GlobalHeaps } from "../read/heaps.ts";
import { Cursor, type Metadata, NOWHERE } from "../read/metadata.ts";
import { type ElementType, product } from "./types.ts";

/** Bytes of values of any length that are read together, at most, and of the heaps that they are in. */
const MOST_BYTES = 64 << 20;
const MOST_HEAPS = 256 << 20;

/** Returns the field that values of a type and shape are: lists in lists. */
export function fieldOf(
  name: string,
  type: ElementType,
  shape: readonly number[] = [],
): CellField {
  const field = (
    meaning: CellField["meaning"],
    ...parts: CellField[]
  ): CellField => ({ name, repetition: "REQUIRED", meaning, parts });
  if (shape.length > 0) {
    return field({ is: "items" }, fieldOf(name, type, shape.slice(1)));
  }
  switch (type.is) {
    case "number": {
      const { letter, size } = type;
      if (letter === "b") return field({ is: "boolean" });
      if (letter === "c") {
        const part = { ...type, letter: "f", size: size / 2 } as const;
        return field({ is: "group" }, fieldOf("r", part), fieldOf("i", part));
      }
      if (letter === "f") {
        return field(
          size === 2
            ? { is: "half" }
            : { is: "float", bits: size === 4 ? 32 : 64 },
        );
      }
      const bits = 8 * size as 8 | 16 | 32 | 64;
      return field({ is: "integer", unsigned: letter === "u", bits });
    }
    case "string":
    case "text":
      return field({ is: "text" });
    case "bytes":
      return field({ is: "bytes", length: type.size });
    case "struct":
      return field(
        { is: "group" },
        ...type.members.map(({ name, type }) => fieldOf(name, type)),
      );
    case "list":
      return field({ is: "items" }, fieldOf(name, type.base));
    case "array":
      return fieldOf(name, type.base, type.shape);
    case "odd":
      return field({ is: "null" });
  }
}

/** Whether values refer to global heaps. */
export function hasHeap(type: ElementType): boolean {
  switch (type.is) {
    case "text":
    case "list":
      return true;
    case "array":
      return hasHeap(type.base);
    case "struct":
      return type.members.some(({ type }) => hasHeap(type));
    default:
      return false;
  }
}

/** Methods that read numbers, by NumPy's letter and size. */
const READERS: Readonly<
  Record<
    string,
    | `get${"Big" | ""}${"Int" | "Uint"}${8 | 16 | 32 | 64}`
      & keyof DataView
    | "getFloat16"
    | "getFloat32"
    | "getFloat64"
  >
> = {
  ...{ i1: "getInt8", i2: "getInt16", i4: "getInt32", i8: "getBigInt64" },
  ...{ u1: "getUint8", u2: "getUint16", u4: "getUint32", u8: "getBigUint64" },
  ...{ f2: "getFloat16", f4: "getFloat32", f8: "getFloat64" },
};

/** Stored values of elements, as `codecs/cells` takes them. */
export class StoredCells {
  readonly #metadata: Metadata;
  readonly #heaps: GlobalHeaps;
  /** Whether floats are the shortest decimals, for texts. */
  readonly #isShort: boolean;
  readonly #loaded = new Map<number, ReadonlyMap<number, Uint8Array>>();
  #left = MOST_BYTES;
  #heapsLeft = MOST_HEAPS;

  constructor(metadata: Metadata, heaps: GlobalHeaps, isShort: boolean) {
    this.#metadata = metadata;
    this.#heaps = heaps;
    this.#isShort = isShort;
  }

  /** Whether so much has been taken that the next value should be taken by itself. */
  get isFull(): boolean {
    return this.#left < MOST_BYTES / 2 || this.#heapsLeft < MOST_HEAPS / 2;
  }

  /** Reads the heaps to which elements refer. */
  *load(type: ElementType, bytes: Uint8Array, at: number): Steps<void> {
    switch (type.is) {
      case "struct":
        for (const { offset, type: own } of type.members) {
          if (hasHeap(own)) yield* this.load(own, bytes, at + offset);
        }
        return;
      case "array": {
        const count = hasHeap(type) ? product(type.shape) : 0;
        for (let i = 0; i < count; i++) {
          yield* this.load(type.base, bytes, at + i * type.base.size);
        }
        return;
      }
      case "text":
      case "list": {
        const { address, count } = this.#referenceAt(bytes, at);
        if (count === 0 || address === NOWHERE) return;
        if (!this.#loaded.has(address)) {
          const heap = yield* this.#heaps.load(address);
          this.#loaded.set(address, heap);
          for (const { length } of heap.values()) this.#heapsLeft -= length;
          if (this.#heapsLeft < 0) throw tooLarge(MOST_HEAPS);
        }
        if (type.is === "text" || !hasHeap(type.base)) return;
        const inner = this.#objectAt(bytes, at, type.base.size);
        for (let i = 0; i < inner.length; i += type.base.size) {
          yield* this.load(type.base, inner, i);
        }
      }
    }
  }

  /** Returns the stored value of an element, or of elements of a shape. */
  at(
    type: ElementType,
    bytes: Uint8Array,
    at: number,
    shape: readonly number[] = [],
  ): unknown {
    if (shape.length > 0) {
      const [length, ...inner] = shape;
      const step = product(inner) * type.size;
      this.#take(length!);
      return Array.from(
        { length: length! },
        (_, i) => this.at(type, bytes, at + i * step, inner),
      );
    }
    switch (type.is) {
      case "number":
        return this.#numberAt(type, bytes, at);
      case "string": {
        const own = bytes.subarray(at, at + type.size);
        const end = own.indexOf(0);
        const text = end < 0 ? own : own.subarray(0, end);
        this.#take(text.length);
        return type.isPadded ? withoutSpaces(text) : text;
      }
      case "text": {
        const text = this.#objectAt(bytes, at, 1);
        const end = text.indexOf(0);
        return end < 0 ? text : text.subarray(0, end);
      }
      case "bytes":
        return bytes.subarray(at, at + type.size);
      case "struct":
        this.#take(type.names);
        return Object.fromEntries(
          type.members.map((
            { offset, type },
            i,
          ) => [i, this.at(type, bytes, at + offset)]),
        );
      case "list": {
        const { base } = type;
        const own = this.#objectAt(bytes, at, base.size);
        return this.at(base, own, 0, [own.length / base.size]);
      }
      case "array":
        return this.at(type.base, bytes, at, type.shape);
      case "odd":
        throw new CellFault(
          `${type.why}, which are unsupported`,
          "unsupported",
        );
    }
  }

  /** Returns the bytes of a value of any length; `item` is that of its parts. */
  bytesAt(bytes: Uint8Array, at: number): Uint8Array {
    return this.#objectAt(bytes, at, 1);
  }

  #objectAt(bytes: Uint8Array, at: number, item: number): Uint8Array {
    const { count, address, index } = this.#referenceAt(bytes, at);
    if (count === 0 || address === NOWHERE) return new Uint8Array();
    const object = this.#loaded.get(address)?.get(index);
    const length = count * item;
    if (object === undefined || object.length < length) {
      throw new CellFault("has a value that is not in its heap");
    }
    this.#take(length);
    return object.subarray(0, length);
  }

  #referenceAt(bytes: Uint8Array, at: number): {
    count: number;
    address: number;
    index: number;
  } {
    const cursor = new Cursor(bytes, this.#metadata);
    cursor.at = at;
    const count = cursor.u32();
    const address = cursor.offset();
    // Memory that was never written refers to byte 0.
    return { count, address: address || NOWHERE, index: cursor.u32() };
  }

  #numberAt(
    type: Extract<ElementType, { is: "number" }>,
    bytes: Uint8Array,
    at: number,
  ): unknown {
    const { letter, size, isBig, bits } = type;
    const view = viewOf(bytes);
    const isLittle = !isBig;
    if (bits !== undefined) {
      throw new CellFault(
        "has numbers of some bits in its structures, which are unsupported",
        "unsupported",
      );
    }
    if (letter === "c") {
      const part = { ...type, letter: "f", size: size / 2 } as const;
      return [0, 1].map((i) => this.#numberAt(part, bytes, at + i * part.size));
    }
    if (letter === "b") return view.getUint8(at) !== 0;
    const value = view[READERS[`${letter}${size}`]!](at, isLittle);
    if (typeof value === "bigint") {
      return Number.isSafeInteger(Number(value)) ? Number(value) : value;
    }
    const isRounded = this.#isShort && letter === "f" && size < 8;
    return isRounded ? shortest(value, size) : value;
  }

  #take(length: number): void {
    this.#left -= length;
    if (this.#left < 0) throw tooLarge(MOST_BYTES);
  }
}

function tooLarge(most: number): CellFault {
  return new CellFault(
    `has values of more than ${most} bytes together`,
    "too-large",
  );
}

/** Returns the shortest decimal of a float of 2 or 4 bytes. */
function shortest(value: number, size: number): number {
  const round = size === 4 ? Math.fround : Math.f16round;
  for (let digits = 1; Number.isFinite(value) && digits < 9; digits++) {
    const short = Number(value.toPrecision(digits));
    if (round(short) === value) return short;
  }
  return value;
}

function withoutSpaces(text: Uint8Array): Uint8Array {
  let end = text.length;
  while (end > 0 && text[end - 1] === 0x20) end--;
  return text.subarray(0, end);
}
