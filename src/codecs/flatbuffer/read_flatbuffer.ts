import { utf8Text } from "../../base/utf8.ts";

/** Makes the error of bytes that are not a FlatBuffer of that shape. */
type Fault = (why: string) => Error;

type Scalar = "bool" | "i16" | "i32" | "i64" | "u8";

/** Contents of a field: a number, a text, a table, or several. Tables may contain themselves. */
export type FlatType =
  | Scalar
  | "text"
  | { readonly table: () => FlatShape }
  | { readonly tables: () => FlatShape }
  /** Numbers, or structures as arrays of numbers; each is followed by as many bytes of padding. */
  | { readonly structs: readonly (readonly [Scalar, number])[] }
  /** Table of one of several shapes; its `kind` is in the field before it. */
  | { readonly union: readonly (FlatShape | undefined)[] };

/** Fields of a table, by their names: their numbers in the order of the schema, what they contain, and their default. */
export interface FlatShape {
  readonly [name: string]: readonly [
    number: number,
    type: FlatType,
    otherwise?: number,
  ];
}

const WIDTHS = { bool: 1, i16: 2, i32: 4, i64: 8, u8: 1 } as const;

/** Maximum nesting depth of tables. */
const DEEPEST = 64;

/**
 * Reads a FlatBuffer (flatbuffers.dev/internals), and verifies it: all offsets lie in it, vectors are no longer than its
 * bytes, and it has no more parts than bytes, so that none is shared by many.
 *
 * @returns The root table by the names of its shape. Numbers that are not stored are their default or 0, lists are
 * empty, texts and tables are `undefined`.
 * @throws What `fault` returns if it is invalid.
 */
export function readFlatBuffer<T>(
  bytes: Uint8Array,
  shape: FlatShape,
  fault: Fault,
): T {
  return new FlatReader(bytes, fault).table(0, shape, 0) as T;
}

class FlatReader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  readonly #fault: Fault;
  /** Bytes that parts may still have. */
  #left: number;

  constructor(bytes: Uint8Array, fault: Fault) {
    this.#fault = fault;
    const { buffer, byteOffset, byteLength } = bytes;
    this.#bytes = bytes;
    this.#view = new DataView(buffer, byteOffset, byteLength);
    this.#left = byteLength;
  }

  /** @param at Where the table's offset is. */
  table(at: number, shape: FlatShape, depth: number): Record<string, unknown> {
    if (depth > DEEPEST) throw this.#fault("is nested too deep");
    const table = this.#target(at);
    this.#require(table, 4);
    const vtable = table - this.#view.getInt32(table, true);
    this.#require(vtable, 4);
    const slots = this.#view.getUint16(vtable, true);
    const size = this.#view.getUint16(vtable + 2, true);
    if (slots < 4 || size < 4) throw this.#fault("has an empty table");
    this.#require(vtable, slots);
    this.#take(table, size);
    const placeOf = (number: number, length: number) => {
      const slot = 4 + 2 * number;
      const offset = slot + 2 > slots
        ? 0
        : this.#view.getUint16(vtable + slot, true);
      if (offset === 0) return undefined;
      if (offset >= 4 && offset + length <= size) return table + offset;
      throw this.#fault("has a value outside of its table");
    };
    const made: Record<string, unknown> = Object.create(null);
    for (const [name, [number, type, otherwise = 0]] of Object.entries(shape)) {
      if (typeof type === "string" && type !== "text") {
        const place = placeOf(number, WIDTHS[type]);
        made[name] = place === undefined
          ? type === "bool" ? otherwise !== 0 : otherwise
          : this.#scalar(place, type);
        continue;
      }
      if (type === "text" || !("union" in type)) {
        made[name] = this.#part(placeOf(number, 4), type, depth);
        continue;
      }
      const kindAt = placeOf(number - 1, 1);
      const kind = kindAt === undefined ? 0 : this.#view.getUint8(kindAt);
      const place = placeOf(number, 4);
      const of = type.union[kind];
      if (of === undefined || place === undefined) {
        throw this.#fault(`has a part of kind ${kind}, or none`);
      }
      made[name] = { ...this.table(place, of, depth + 1), kind };
    }
    return made;
  }

  /** Returns a text, a table or several; `undefined` or none if they are not stored. */
  #part(
    at: number | undefined,
    type: Exclude<FlatType, Scalar | { union: unknown }>,
    depth: number,
  ): unknown {
    if (type === "text") {
      if (at === undefined) return undefined;
      const { start, count } = this.#vector(at, 1);
      return utf8Text(this.#bytes.subarray(start, start + count));
    }
    if ("table" in type) {
      return at && this.table(at, type.table(), depth + 1);
    }
    if (at === undefined) return [];
    if ("tables" in type) {
      const { start, count } = this.#vector(at, 4);
      const itemOf = (_: unknown, i: number) =>
        this.table(start + 4 * i, type.tables(), depth + 1);
      return Array.from({ length: count }, itemOf);
    }
    const stride = type.structs.reduce(
      (sum, [scalar, padding]) => sum + WIDTHS[scalar] + padding,
      0,
    );
    const { start, count } = this.#vector(at, stride);
    return Array.from({ length: count }, (_, i) => {
      let place = start + i * stride;
      return type.structs.map(([scalar, padding]) => {
        const value = this.#scalar(place, scalar);
        place += WIDTHS[scalar] + padding;
        return value;
      });
    });
  }

  #scalar(at: number, type: Scalar): number | boolean {
    switch (type) {
      case "bool":
        return this.#view.getUint8(at) !== 0;
      case "i16":
        return this.#view.getInt16(at, true);
      case "i32":
        return this.#view.getInt32(at, true);
      case "i64":
        return Number(this.#view.getBigInt64(at, true));
      case "u8":
        return this.#view.getUint8(at);
    }
  }

  #vector(at: number, stride: number): { start: number; count: number } {
    const start = this.#target(at);
    this.#require(start, 4);
    const count = this.#view.getUint32(start, true);
    this.#take(start, 4 + count * stride);
    return { start: start + 4, count };
  }

  #target(at: number): number {
    this.#require(at, 4);
    return at + this.#view.getUint32(at, true);
  }

  #take(at: number, length: number): void {
    this.#require(at, length);
    this.#left -= length;
    if (this.#left < 0) throw this.#fault("has parts that overlap");
  }

  #require(at: number, length: number): void {
    if (at >= 0 && at + length <= this.#view.byteLength) return;
    throw this.#fault("has offsets outside of it");
  }
}
