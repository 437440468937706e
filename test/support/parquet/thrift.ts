/** Encodes messages of Thrift's compact protocol, including invalid ones, and finds the integers in a message. */

/** A value with its type in the protocol. */
export type Thrift =
  | { readonly i32: number }
  | { readonly i64: number | bigint }
  | { readonly binary: string | Uint8Array }
  | { readonly list: readonly Thrift[] }
  | { readonly struct: Fields }
  /** Raw bytes of a type. */
  | { readonly type: number; readonly raw: readonly number[] };

/** Fields by id. */
export type Fields = Readonly<Record<number, Thrift>>;

/** Encodes a varint: 7 bits per byte. */
export function varint(number: number | bigint): number[] {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, BigInt(number));
  while (rest >= 0x80n) {
    bytes.push(Number(rest & 0x7fn) | 0x80);
    rest >>= 7n;
  }
  return [...bytes, Number(rest)];
}

function zigzag(number: number | bigint): number[] {
  const value = BigInt(number);
  return varint(value << 1n ^ value >> 63n);
}

function typeOf(value: Thrift): number {
  if ("i32" in value) return 5;
  if ("i64" in value) return 6;
  if ("binary" in value) return 8;
  if ("list" in value) return 9;
  return "struct" in value ? 12 : value.type;
}

function bytesOf(value: Thrift): number[] {
  if ("i32" in value) return zigzag(value.i32);
  if ("i64" in value) return zigzag(value.i64);
  if ("raw" in value) return [...value.raw];
  if ("struct" in value) return struct(value.struct);
  if ("list" in value) {
    const { list } = value;
    const type = list.length === 0 ? 12 : typeOf(list[0]!);
    const head = list.length < 15
      ? [list.length << 4 | type]
      : [0xf0 | type, ...varint(list.length)];
    return [...head, ...list.flatMap(bytesOf)];
  }
  const { binary } = value;
  const bytes = typeof binary === "string"
    ? new TextEncoder().encode(binary)
    : binary;
  return [...varint(bytes.length), ...bytes];
}

/** Encodes a message. */
export function struct(fields: Fields): number[] {
  const bytes: number[] = [];
  let before = 0;
  for (const [key, value] of Object.entries(fields)) {
    const id = Number(key);
    bytes.push(id - before << 4 | typeOf(value), ...bytesOf(value));
    before = id;
  }
  return [...bytes, 0];
}

/** Offset and length of an encoded integer. */
export interface NumberPlace {
  readonly at: number;
  readonly length: number;
}

/**
 * Finds the integers of a message, including counts; the lengths of strings among them; and where the message ends, or
 * -1 if it is invalid.
 */
export function numbersIn(
  bytes: Uint8Array,
  start: number,
): {
  readonly numbers: NumberPlace[];
  readonly lengths: NumberPlace[];
  readonly end: number;
} {
  const numbers: NumberPlace[] = [];
  const lengths: NumberPlace[] = [];
  let at = start;
  const number = (): number => {
    const from = at;
    let value = 0;
    for (let i = 0;; i++) {
      const byte = bytes[at++];
      if (byte === undefined || i === 10) throw new RangeError("no number");
      value += (byte & 0x7f) * 2 ** (7 * i);
      if (byte < 0x80) break;
    }
    numbers.push({ at: from, length: at - from });
    return value;
  };
  const value = (type: number): void => {
    if (type <= 3) at++;
    else if (type <= 6) number();
    else if (type === 7) at += 8;
    else if (type === 8) {
      const length = number();
      lengths.push(numbers.at(-1)!);
      at += length;
    } else if (type === 9) {
      const head = bytes[at++]!;
      const count = head >> 4 === 15 ? number() : head >> 4;
      for (let i = 0; i < count && at < bytes.length; i++) value(head & 15);
    } else if (type === 12) fields();
    else throw new RangeError("no type");
  };
  const fields = (): void => {
    while (at < bytes.length) {
      const head = bytes[at++]!;
      if (head === 0) return;
      if (head >> 4 === 0) number();
      if ((head & 15) > 2) value(head & 15);
    }
    throw new RangeError("no end");
  };
  try {
    fields();
    return { numbers, lengths, end: at };
  } catch {
    return { numbers, lengths, end: -1 };
  }
}
