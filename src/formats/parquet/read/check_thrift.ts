import { DEEPEST } from "../layout.ts";

/** Invalid Thrift message. Callers that know the file convert it to a {@linkcode FormatError}. */
export class BadThrift extends Error {}

class Cut extends Error {}

/** Maximum number of structures and lists of a message: each becomes an object. */
const MOST_PARTS = 4 << 20;

/** Types of the compact protocol (thrift.apache.org, thrift-compact-protocol.md). */
const Type = {
  STOP: 0,
  TRUE: 1,
  FALSE: 2,
  BYTE: 3,
  I16: 4,
  I32: 5,
  I64: 6,
  DOUBLE: 7,
  BINARY: 8,
  LIST: 9,
  STRUCT: 12,
} as const;

/**
 * Validates a Thrift message before it is decoded: lists have no more elements than bytes follow, numbers are
 * terminated, and nesting is no deeper than in Parquet messages.
 *
 * @returns Offset of its end; -1 if the bytes are truncated.
 * @throws {BadThrift} If it is invalid.
 */
export function thriftEnd(bytes: Uint8Array, start = 0): number {
  const walk = new ThriftWalk(bytes, start);
  try {
    walk.struct(0);
    return walk.at;
  } catch (error) {
    if (error instanceof Cut) return -1;
    throw error;
  }
}

class ThriftWalk {
  readonly #bytes: Uint8Array;
  at: number;
  #parts = 0;

  constructor(bytes: Uint8Array, start: number) {
    this.#bytes = bytes;
    this.at = start;
  }

  struct(depth: number): void {
    this.#part(depth);
    for (;;) {
      const byte = this.#byte();
      const type = byte & 0x0f;
      if (type === Type.STOP) return;
      if (byte >> 4 === 0) this.#varint(5); // long form of the field number
      if (type !== Type.TRUE && type !== Type.FALSE) this.#value(type, depth);
    }
  }

  #value(type: number, depth: number): void {
    switch (type) {
      case Type.TRUE:
      case Type.FALSE:
      case Type.BYTE:
        return this.#skip(1);
      case Type.I16:
      case Type.I32:
        this.#varint(5);
        return;
      case Type.I64:
        this.#varint(10);
        return;
      case Type.DOUBLE:
        return this.#skip(8);
      case Type.BINARY:
        return this.#skip(this.#count());
      case Type.LIST:
        return this.#list(depth);
      case Type.STRUCT:
        return this.struct(depth + 1);
      default:
        throw new BadThrift(
          `has a value of the unknown type ${type}`,
        );
    }
  }

  #list(depth: number): void {
    this.#part(depth);
    const byte = this.#byte();
    const type = byte & 0x0f;
    let count = byte >> 4;
    if (count === 15) count = this.#count();
    if (this.at + count > this.#bytes.length) throw new Cut(); // each takes at least one byte
    for (let i = 0; i < count; i++) this.#value(type, depth + 1);
  }

  #part(depth: number): void {
    if (depth > DEEPEST) throw new BadThrift("is nested too deep");
    if (++this.#parts > MOST_PARTS) {
      throw new BadThrift(`has more than ${MOST_PARTS} parts`);
    }
  }

  #count(): number {
    const count = this.#varint(5);
    if (count >= 2 ** 31) throw new BadThrift(`counts ${count}`);
    return count;
  }

  #varint(most: number): number {
    let value = 0;
    for (let i = 0; i < most; i++) {
      const byte = this.#byte();
      value += (byte & 0x7f) * 2 ** (7 * i);
      if (byte < 0x80) return value;
    }
    throw new BadThrift("has a number that does not end");
  }

  #byte(): number {
    const byte = this.#bytes[this.at++];
    if (byte === undefined) throw new Cut();
    return byte;
  }

  #skip(count: number): void {
    this.at += count;
    if (this.at > this.#bytes.length) throw new Cut();
  }
}
