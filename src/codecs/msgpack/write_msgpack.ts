import { types } from "node:util";
import { ByteOutput } from "../byte_output.ts";
import {
  DEEPEST,
  isWrittenAsInt,
  MsgpackExt,
  MsgpackFloat,
  MsgpackTimestamp,
  type PackableValue,
} from "./value.ts";

/**
 * Writes a value as MessagePack, byte for byte as Python's `msgpack.packb`: in the smallest form, floats in 64 bits,
 * bytes as bin.
 *
 * An integral number up to 2^53 and a `bigint` become int, any other number (also -0, NaN and infinities) float;
 * {@linkcode MsgpackFloat} makes `1` a float. `Map` and plain objects become map, in key order.
 *
 * @throws {TypeError} If the value holds anything else, such as `undefined`, a date, an instance of a class, text with
 * lone surrogates, an integer beyond 64 bits, or a `Map` with both `1` and `1n` as keys, or nests more than 1,024 deep;
 * the message says where.
 *
 * @example Pack and unpack
 * ```ts
 * import { readMsgpack, writeMsgpack } from "@recordfs/recordfs/msgpack";
 * import assert from "node:assert/strict";
 *
 * const packed = writeMsgpack({ label: 7, big: 2n ** 60n });
 * assert.deepEqual(readMsgpack(packed), { label: 7, big: 2n ** 60n });
 * ```
 */
export function writeMsgpack(value: PackableValue): Uint8Array<ArrayBuffer> {
  const writer = new MsgpackWriter();
  writer.write(value);
  return writer.take();
}

const UTF8 = new TextEncoder();

/** Writes consecutive values, or parts of one. */
export class MsgpackWriter extends ByteOutput {
  /** Path of keys and indices to the value being written. */
  readonly #place: unknown[] = [];

  write(value: unknown): void {
    switch (typeof value) {
      case "string":
        return this.#text(value);
      case "number":
        return isWrittenAsInt(value)
          ? this.int(value)
          : this.float64(0xcb, value);
      case "bigint":
        return this.#bigint(value);
      case "boolean":
        return this.op(value ? 0xc3 : 0xc2);
      case "object":
        return value === null ? this.op(0xc0) : this.#object(value);
      default:
        this.#refuse(value === undefined ? "undefined" : `a ${typeof value}`);
    }
  }

  int(value: number): void {
    if (value >= 0) {
      if (value < 0x80) this.op(value);
      else if (value < 0x100) this.#uint(0xcc, 1, value);
      else if (value < 0x10000) this.#uint(0xcd, 2, value);
      else if (value < 2 ** 32) this.#uint(0xce, 4, value);
      else this.#uint64(0xcf, value);
    } else if (value >= -0x20) this.op(value + 0x100);
    else if (value >= -0x80) this.#uint(0xd0, 1, value);
    else if (value >= -0x8000) this.#uint(0xd1, 2, value);
    else if (value >= -(2 ** 31)) this.#uint(0xd2, 4, value);
    else this.#uint64(0xd3, value);
  }

  #bigint(value: bigint): void {
    const number = Number(value);
    if (Number.isSafeInteger(number)) return this.int(number);
    if (BigInt.asUintN(64, value) === value) {
      return this.#uint64(0xcf, value);
    }
    if (BigInt.asIntN(64, value) === value) {
      return this.#uint64(0xd3, value);
    }
    this.#refuse("an integer beyond 64 bits");
  }

  #text(text: string): void {
    if (text.length < 32 && this.#asciiText(text)) return;
    if (!text.isWellFormed()) this.#refuse("a text with a lone surrogate");
    const utf8 = UTF8.encode(text);
    const size = utf8.length;
    if (size < 32) this.op(0xa0 | size);
    else this.#size(0xd9, size);
    this.raw(utf8);
  }

  #object(value: object): void {
    if (value instanceof Uint8Array) {
      this.#size(0xc4, value.byteLength);
      this.raw(value);
    } else if (Array.isArray(value)) this.#list(value);
    else if (types.isMap(value)) this.#map(value);
    else if (value instanceof MsgpackFloat) {
      this.float64(0xcb, value.value);
    } else if (value instanceof MsgpackExt) this.#ext(value.type, value.data);
    else if (value instanceof MsgpackTimestamp) {
      this.#ext(-1, timestampBytes(value));
    } else if (isPlain(value)) {
      const keys = Object.keys(value);
      const items = value as Record<string, unknown>;
      this.#container(0x80, 0xde, keys.length);
      for (const key of keys) this.#entry(key, items[key]);
    } else this.#refuse(`a ${value.constructor?.name ?? "object of a class"}`);
  }

  /** Writes the head of a list; the caller writes its items. */
  listHead(count: number): void {
    this.#container(0x90, 0xdc, count);
  }

  #list(items: readonly unknown[]): void {
    this.listHead(items.length);
    for (let i = 0; i < items.length; i++) {
      this.#place.push(i);
      this.write(items[i]);
      this.#place.pop();
    }
  }

  #map(map: ReadonlyMap<unknown, unknown>): void {
    this.#container(0x80, 0xde, map.size);
    for (const [key, value] of map) {
      // Readers see the same key twice, and would lose one of the values.
      if (
        typeof key === "bigint" && Number.isSafeInteger(Number(key)) &&
        map.has(Number(key))
      ) this.#refuse(`the key ${key} twice, as number and as bigint,`);
      this.#entry(key, value);
    }
  }

  #entry(key: unknown, value: unknown): void {
    this.#place.push(key);
    this.write(key);
    this.write(value);
    this.#place.pop();
  }

  #container(short: number, long: number, count: number): void {
    if (this.#place.length >= DEEPEST) {
      this.#refuse(`what nests more than ${DEEPEST} levels deep`);
    }
    if (count < 16) this.op(short | count);
    else if (count < 0x10000) this.#uint(long, 2, count);
    else this.#uint(long + 1, 4, count);
  }

  /** @param head Head for an 8-bit size; those for 16 and 32 bits follow it. */
  #size(head: number, size: number): void {
    if (size < 0x100) this.#uint(head, 1, size);
    else if (size < 0x10000) this.#uint(head + 1, 2, size);
    else if (size < 2 ** 32) this.#uint(head + 2, 4, size);
    else this.#refuse(`${size} bytes at once, which is 4 GiB or more`);
  }

  #ext(type: number, data: Uint8Array): void {
    const power = [1, 2, 4, 8, 16].indexOf(data.byteLength);
    if (power >= 0) this.op(0xd4 + power);
    else this.#size(0xc7, data.byteLength);
    this.op(type & 0xff);
    this.raw(data);
  }

  #refuse(what: string): never {
    const shown = this.#place.slice(-8).map((key) =>
      typeof key === "number" || typeof key === "string"
        ? `[${JSON.stringify(key).slice(0, 40)}]`
        : "[…]"
    );
    const cut = this.#place.length > shown.length ? "…" : "";
    throw new TypeError(
      `Cannot write ${what} as MessagePack, at value${cut}${shown.join("")}`,
    );
  }

  /** Writes a head and a number of 1, 2 or 4 bytes, in two's complement if negative. */
  #uint(head: number, width: 1 | 2 | 4, value: number): void {
    const at = this.grow(1 + width);
    this.memory[at] = head;
    for (let i = 0; i < width; i++) {
      this.memory[at + width - i] = value >> 8 * i;
    }
  }

  /** @param value An integer of at least -(2^63); written in two's complement if negative. */
  #uint64(head: number, value: number | bigint): void {
    const at = this.grow(9);
    this.memory[at] = head;
    this.view.setBigUint64(at + 1, BigInt(value));
  }

  /** Writes up to 31 ASCII characters, faster than the encoder; for other text, writes nothing and returns `false`. */
  #asciiText(text: string): boolean {
    const { length } = text;
    const at = this.grow(1 + length);
    this.memory[at] = 0xa0 | length;
    for (let i = 0; i < length; i++) {
      const unit = text.charCodeAt(i);
      if (unit >= 0x80) {
        this.clear(at);
        return false;
      }
      this.memory[at + 1 + i] = unit;
    }
    return true;
  }
}

function isPlain(value: object): boolean {
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** Encodes a timestamp in the fewest of 4, 8 or 12 bytes, as Python's `Timestamp.to_bytes`. */
function timestampBytes(
  { seconds, nanoseconds }: MsgpackTimestamp,
): Uint8Array {
  const bytes = new Uint8Array(12);
  const view = new DataView(bytes.buffer);
  if (seconds >= 0 && seconds < 2 ** 34) {
    const whole = Number(seconds);
    view.setUint32(4, whole);
    if (nanoseconds === 0 && whole < 2 ** 32) return bytes.subarray(4, 8);
    view.setUint32(0, nanoseconds * 4 + Math.floor(whole / 2 ** 32));
    return bytes.subarray(0, 8);
  }
  view.setUint32(0, nanoseconds);
  view.setBigInt64(4, BigInt(seconds));
  return bytes;
}
