import { viewOf } from "../../base/view_of.ts";
import { setOwn } from "../set_own.ts";
import {
  DEEPEST,
  isWrittenAsInt,
  MsgpackError,
  MsgpackExt,
  MsgpackFloat,
  MsgpackTimestamp,
  type MsgpackValue,
  objectKeepsOrder,
  type PackableValue,
} from "./value.ts";
import { strictUtf8Text } from "../../base/utf8.ts";

/**
 * Reads one MessagePack value (Python's `msgpack.unpackb`).
 *
 * | MessagePack       | becomes                                                                    |
 * | ----------------- | -------------------------------------------------------------------------- |
 * | nil, bool, float  | `null`, `boolean`, `number`                                                |
 * | int               | `number`; `bigint` beyond 2^53 - 1                                         |
 * | str               | `string`                                                                   |
 * | bin               | `Uint8Array` that shares the memory of `bytes`                             |
 * | array             | `Array`                                                                    |
 * | map               | a plain object if all keys are strings, else `Map`                         |
 * | ext, timestamp    | {@linkcode MsgpackExt}, {@linkcode MsgpackTimestamp}                       |
 *
 * A map whose order a plain object would change, such as `{"10": …, "2": …}`, also becomes a `Map`. Of a repeated key,
 * the last value counts, as in Python. Unlike in Python, keys may have any type.
 *
 * @param bytes Exactly one value.
 * @param options Whether `1.0` is distinguished from `1`.
 * @throws {MsgpackError} If the bytes are truncated, continue after the value, nest more than 1,024 deep (Python's
 * limit), hold text that is not UTF-8, or are not MessagePack.
 *
 * @example What Python packed
 * ```ts
 * import { readMsgpack } from "@recordfs/recordfs/msgpack";
 * import assert from "node:assert/strict";
 *
 * const packed = Uint8Array.of(0x82, 0xa1, 0x61, 0x01, 0xa1, 0x62, 0x92, 0xc0, 0xc3);
 * assert.deepEqual(readMsgpack(packed), { a: 1, b: [null, true] });
 * ```
 */
export function readMsgpack(
  bytes: Uint8Array,
  options?: { readonly keepFloats?: false | undefined },
): MsgpackValue;
/** {@linkcode readMsgpack} of a value that will be written again. */
export function readMsgpack(
  bytes: Uint8Array,
  options: {
    /**
     * Whether an integral float, `1.0`, becomes a {@linkcode MsgpackFloat}, which is written as a float again. By
     * default it becomes the number 1, which is written as an integer.
     */
    readonly keepFloats?: boolean | undefined;
  },
): PackableValue;
export function readMsgpack(
  bytes: Uint8Array,
  { keepFloats = false }: { readonly keepFloats?: boolean | undefined } = {},
): MsgpackValue | PackableValue {
  return new MsgpackReader(bytes, keepFloats).read();
}

/** Length of text, such as most keys, up to which a loop is faster than a call of the decoder. */
const MOST_UNITS = 24;

export interface MsgpackHead {
  readonly isMap: boolean;
  readonly count: number;
}

function isMapHead(head: number | undefined): boolean {
  return head !== undefined &&
    (head >> 4 === 0x8 || head === 0xde || head === 0xdf);
}

/** Reader by the specification (github.com/msgpack/msgpack, spec.md); `docs/design.md` says why it is our own. */
export class MsgpackReader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  readonly #failAt: (offset: number, reason: string, cause?: unknown) => never;
  #end: number;
  #at = 0;
  readonly #keepFloats: boolean;
  #depth = 0;

  /** @param fail Throws an error about an offset. */
  constructor(
    bytes: Uint8Array,
    keepFloats: boolean,
    fail: (offset: number, reason: string, cause?: unknown) => never = notSound,
  ) {
    this.#bytes = bytes;
    this.#end = bytes.byteLength;
    this.#keepFloats = keepFloats;
    this.#view = viewOf(bytes);
    this.#failAt = fail;
  }

  read(): MsgpackValue {
    const value = this.value();
    this.finish();
    return value;
  }

  /** Asserts that no bytes follow. */
  finish(): void {
    if (this.rest > 0) this.#fail(`${this.rest} bytes follow the value`);
  }

  /** Restarts on new content of `length` bytes in the same memory. */
  start(length: number): void {
    this.#at = 0;
    this.#end = length;
    this.#depth = 0;
  }

  get rest(): number {
    return this.#end - this.#at;
  }

  /** Reads a list's head and returns the number of items; skips any other value and returns -1. */
  listHead(): number {
    const head = this.#bytes[this.#take(1)]!;
    if (head >> 4 === 0x9) return head & 0x0f;
    if (head === 0xdc || head === 0xdd) return this.#uint(head - 0xdb);
    this.#at--;
    this.value();
    return -1;
  }

  /** Reads the head of a list or map; returns `undefined` at any other value, without skipping it. */
  containerHead(): MsgpackHead | undefined {
    const isMap = isMapHead(this.#bytes[this.#at]);
    const items = this.#passHead();
    if (items < 0) return undefined;
    return { isMap, count: isMap ? items / 2 : items };
  }

  /** Skips the next value at any depth, without building lists or maps. */
  skip(): void {
    for (let left = 1; left > 0;) {
      left--;
      const items = this.#passHead();
      if (items < 0) this.value();
      else left += items;
    }
  }

  /** Reads the head of a list or map and returns the number of values that follow; -1 at any other value. */
  #passHead(): number {
    const head = this.#bytes[this.#take(1)]!;
    const isMap = isMapHead(head);
    let count: number;
    if (head >= 0x80 && head < 0xa0) count = head & 0x0f;
    else if (head >= 0xdc && head <= 0xdf) {
      count = this.#uint(head - (isMap ? 0xdd : 0xdb));
    } else {
      this.#at--;
      return -1;
    }
    const items = isMap ? 2 * count : count;
    if (items > this.rest) {
      this.#failShort(`${items} more bytes are needed at the least`);
    }
    return items;
  }

  value(): MsgpackValue {
    const head = this.#bytes[this.#take(1)]!;
    if (head < 0x80) return head;
    if (head < 0x90) return this.#map(head & 0x0f);
    if (head < 0xa0) return this.#list(head & 0x0f);
    if (head < 0xc0) return this.#text(head & 0x1f);
    if (head >= 0xe0) return head - 0x100;
    switch (head) {
      case 0xc0:
        return null;
      case 0xc2:
        return false;
      case 0xc3:
        return true;
      case 0xc4:
      case 0xc5:
      case 0xc6:
        return this.#data(this.#uint(head - 0xc4));
      case 0xc7:
      case 0xc8:
      case 0xc9:
        return this.#ext(this.#uint(head - 0xc7));
      case 0xca:
        return this.#float(this.#view.getFloat32(this.#take(4)));
      case 0xcb:
        return this.#float(this.#view.getFloat64(this.#take(8)));
      case 0xcc:
      case 0xcd:
      case 0xce:
        return this.#uint(head - 0xcc);
      case 0xcf:
        return this.#uint64(this.#take(8));
      case 0xd0:
        return this.#view.getInt8(this.#take(1));
      case 0xd1:
        return this.#view.getInt16(this.#take(2));
      case 0xd2:
        return this.#view.getInt32(this.#take(4));
      case 0xd3:
        return this.#int64(this.#take(8));
      case 0xd4:
      case 0xd5:
      case 0xd6:
      case 0xd7:
      case 0xd8:
        return this.#ext(2 ** (head - 0xd4));
      case 0xd9:
      case 0xda:
      case 0xdb:
        return this.#text(this.#uint(head - 0xd9));
      case 0xdc:
      case 0xdd:
        return this.#list(this.#uint(head - 0xdb));
      case 0xde:
      case 0xdf:
        return this.#map(this.#uint(head - 0xdd));
      default:
        this.#at--;
        return this.#fail("no value starts with the byte 0xc1");
    }
  }

  /** Skips `size` bytes and returns their offset. */
  #take(size: number): number {
    const at = this.#at;
    if (size > this.rest) {
      this.#failShort(`${size} more bytes are needed`);
    }
    this.#at = at + size;
    return at;
  }

  #failShort(needed: string): never {
    this.#fail(
      `truncated: ${needed}, and ${this.rest} are there`,
    );
  }

  #float(value: number): MsgpackValue {
    if (!this.#keepFloats || !isWrittenAsInt(value)) return value;
    return new MsgpackFloat(value) as never; // the type of `readMsgpack` allows it
  }

  /** @param power 0 for 8 bits, 1 for 16, 2 for 32. */
  #uint(power: number): number {
    if (power === 0) return this.#bytes[this.#take(1)]!;
    if (power === 1) return this.#view.getUint16(this.#take(2));
    return this.#view.getUint32(this.#take(4));
  }

  #uint64(at: number): number | bigint {
    const high = this.#view.getUint32(at);
    return high < 2 ** 21
      ? high * 2 ** 32 + this.#view.getUint32(at + 4)
      : this.#view.getBigUint64(at);
  }

  #int64(at: number): number | bigint {
    const number = this.#view.getInt32(at) * 2 ** 32 +
      this.#view.getUint32(at + 4);
    return Number.isSafeInteger(number) ? number : this.#view.getBigInt64(at);
  }

  #data(size: number): Uint8Array {
    const at = this.#take(size);
    return this.#bytes.subarray(at, at + size);
  }

  #text(size: number): string {
    const at = this.#take(size);
    const end = at + size;
    const short = size <= MOST_UNITS ? this.#ascii(at, end) : undefined;
    if (short !== undefined) return short;
    try {
      return strictUtf8Text(this.#bytes.subarray(at, end));
    } catch (cause) {
      this.#at = at;
      return this.#fail("a text is not UTF-8", cause);
    }
  }

  /** Text of these bytes if all are ASCII. */
  #ascii(at: number, end: number): string | undefined {
    let text = "";
    for (let i = at; i < end; i++) {
      const unit = this.#bytes[i]!;
      if (unit >= 0x80) return undefined;
      text += String.fromCharCode(unit);
    }
    return text;
  }

  /** @param least Minimum number of bytes of the items. */
  #enter(least: number): void {
    if (least > this.rest) {
      this.#failShort(`${least} more bytes are needed at the least`);
    }
    if (++this.#depth > DEEPEST) {
      this.#fail(`it is nested more than ${DEEPEST} levels deep`);
    }
  }

  #list(count: number): MsgpackValue[] {
    this.#enter(count);
    const items: MsgpackValue[] = [];
    for (let i = 0; i < count; i++) items.push(this.value());
    this.#depth--;
    return items;
  }

  #map(
    count: number,
  ): Map<MsgpackValue, MsgpackValue> | Record<string, MsgpackValue> {
    this.#enter(2 * count);
    const keys: MsgpackValue[] = [];
    const values: MsgpackValue[] = [];
    for (let i = 0; i < count; i++) {
      keys.push(this.value());
      values.push(this.value());
    }
    this.#depth--;
    return objectKeepsOrder(keys)
      ? objectOf(keys, values)
      : new Map(keys.map((key, i) => [key, values[i]!]));
  }

  #ext(size: number): MsgpackExt | MsgpackTimestamp {
    const start = this.#at;
    const type = this.#view.getInt8(this.#take(1));
    const data = this.#data(size);
    if (type !== -1) return new MsgpackExt(type, data);
    const at = this.#at - size;
    const view = this.#view;
    if (size === 4) return new MsgpackTimestamp(view.getUint32(at));
    if (size !== 8 && size !== 12) {
      this.#at = at;
      this.#fail(`a timestamp has ${size} bytes, not 4, 8 or 12`);
    }
    const high = view.getUint32(at); // 8 bytes: 30 bits of nanoseconds, 34 of seconds
    const nanoseconds = size === 8 ? high >>> 2 : high;
    if (nanoseconds >= 1e9) {
      this.#at = start;
      this.#fail("a timestamp is out of range");
    }
    const seconds = size === 8
      ? (high & 3) * 2 ** 32 + view.getUint32(at + 4)
      : this.#int64(at + 4);
    return new MsgpackTimestamp(seconds, nanoseconds);
  }

  #fail(reason: string, cause?: unknown): never {
    this.#failAt(this.#at, reason, cause);
  }
}

function notSound(offset: number, reason: string, cause?: unknown): never {
  throw new MsgpackError(offset, reason, cause);
}

function objectOf(
  keys: readonly string[],
  values: readonly MsgpackValue[],
): Record<string, MsgpackValue> {
  const made: Record<string, MsgpackValue> = {};
  for (let i = 0; i < keys.length; i++) setOwn(made, keys[i]!, values[i]!);
  return made;
}
