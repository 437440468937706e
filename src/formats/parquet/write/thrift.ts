/**
 * Thrift messages as trees that keep every field and type, to change some and write the rest as it was.
 *
 * Source: thrift.apache.org, thrift-compact-protocol.md.
 *
 * @module
 */

/** A struct: its fields by number, in their order in the message. */
export type ThriftStruct = Map<number, ThriftField>;

export type ThriftValue =
  | bigint
  | boolean
  | Uint8Array
  | ThriftList
  | ThriftStruct;

export interface ThriftField {
  /** Type number; that of Booleans tells the value. */
  readonly type: number;
  readonly value: ThriftValue;
}

export interface ThriftList {
  readonly type: number;
  readonly items: readonly ThriftValue[];
}

/** Type numbers of the fields that are written anew. */
export const I64 = 6;
export const STRUCT = 12;
const LONG_FORM = 15;
const MOST_SHORT = 14;

/** Decodes a message that `thriftEnd` has accepted. */
export function decodeThrift(bytes: Uint8Array): ThriftStruct {
  return new ThriftInput(bytes).struct();
}

class ThriftInput {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  struct(): ThriftStruct {
    const fields: ThriftStruct = new Map();
    let id = 0;
    for (;;) {
      const byte = this.#byte();
      const type = byte & 0x0f;
      if (type === 0) return fields;
      id = byte >> 4 === 0 ? Number(zigzag(this.#varint())) : id + (byte >> 4);
      const isTruth = type === 1 || type === 2;
      fields.set(id, { type, value: isTruth ? type === 1 : this.#value(type) });
    }
  }

  #value(type: number): ThriftValue {
    switch (type) {
      case 1:
      case 2:
        return this.#byte() === 1;
      case 3:
        return this.#take(1);
      case 7:
        return this.#take(8);
      case 8:
        return this.#take(Number(this.#varint()));
      case 9: {
        const byte = this.#byte();
        const short = byte >> 4;
        const length = short === LONG_FORM ? Number(this.#varint()) : short;
        const itemType = byte & 0x0f;
        const items = Array.from({ length }, () => this.#value(itemType));
        return { type: itemType, items };
      }
      case STRUCT:
        return this.struct();
      default:
        return zigzag(this.#varint());
    }
  }

  #byte(): number {
    return this.#bytes[this.#at++]!;
  }

  #take(length: number): Uint8Array {
    const start = this.#at;
    this.#at += length;
    return this.#bytes.subarray(start, this.#at);
  }

  #varint(): bigint {
    let value = 0n;
    for (let shift = 0n;; shift += 7n) {
      const byte = this.#byte();
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  }
}

/** Encodes a struct. */
export function encodeThrift(struct: ThriftStruct): Uint8Array<ArrayBuffer> {
  const output: number[] = [];
  writeStruct(output, struct);
  return Uint8Array.from(output);
}

function writeStruct(output: number[], struct: ThriftStruct): void {
  let last = 0;
  for (const [id, { type, value }] of struct) {
    const delta = id - last;
    if (delta > 0 && delta <= LONG_FORM) output.push(delta << 4 | type);
    else {
      output.push(type);
      writeVarint(output, unzigzag(BigInt(id)));
    }
    last = id;
    if (type !== 1 && type !== 2) writeValue(output, type, value);
  }
  output.push(0);
}

function writeValue(output: number[], type: number, value: ThriftValue): void {
  if (typeof value === "boolean") output.push(value ? 1 : 2);
  else if (typeof value === "bigint") writeVarint(output, unzigzag(value));
  else if (value instanceof Uint8Array) {
    if (type === 8) writeVarint(output, BigInt(value.length));
    for (const byte of value) output.push(byte);
  } else if (value instanceof Map) writeStruct(output, value);
  else {
    const { type, items } = value;
    const { length } = items;
    output.push((length > MOST_SHORT ? LONG_FORM : length) << 4 | type);
    if (length > MOST_SHORT) writeVarint(output, BigInt(length));
    for (const item of items) writeValue(output, type, item);
  }
}

function writeVarint(output: number[], value: bigint): void {
  let rest = value;
  for (; rest > 0x7fn; rest >>= 7n) output.push(Number(rest & 0x7fn) | 0x80);
  output.push(Number(rest));
}

function zigzag(value: bigint): bigint {
  return value >> 1n ^ -(value & 1n);
}

function unzigzag(value: bigint): bigint {
  return BigInt.asUintN(64, value << 1n ^ value >> 63n);
}
