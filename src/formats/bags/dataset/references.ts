import { FormatError } from "../../../errors.ts";
import type { Bag } from "../bag/bag.ts";
import type { SpecKey } from "./spec.ts";

/** What {@linkcode References.parse} needs to know of a dataset. */
interface ReferencedKeys {
  /** Path of `refs.bag`. */
  readonly path: string;
  /** In the order of the references. */
  readonly keys: readonly SpecKey[];
  /**
   * How many records the bag of each key has. Left out where that is not known yet; then
   * {@linkcode References.checkRange} is for the caller to call.
   */
  readonly lengths?: readonly number[] | undefined;
}

/**
 * The references of one datapoint, in generations 1 and 2: which records of each key's bag belong to
 * it. They are a MessagePack array with an entry a key: an index, or for a list type
 * `[first, count]`, or `[]`. Two datapoints may refer to the same record.
 *
 * One object is filled again and again, since a reader needs one a datapoint.
 */
export class References {
  /** The first record of each key; 0 where there is none. */
  readonly first: Float64Array;
  /** How many records of each key: 1 unless it is a list. */
  readonly count: Float64Array;
  readonly #of: ReferencedKeys;
  readonly #record: Uint8Array;
  #bytes: Uint8Array = new Uint8Array(0);
  #end = 0;
  #at = 0;
  #datapoint = 0;

  constructor(of: ReferencedKeys) {
    this.#of = of;
    this.first = new Float64Array(of.keys.length);
    this.count = new Float64Array(of.keys.length);
    this.#record = new Uint8Array(longestReferences(of.keys.length) + 1);
  }

  /**
   * Reads the references of a datapoint without waiting.
   *
   * @throws {FormatError} With code `bad-reference`.
   * @throws {NotLoaded} If they have to be waited for.
   */
  read(datapoint: number, refs: Bag): void {
    // A record that is longer than references can be is found wrong by its first bytes.
    const length = refs.copy(datapoint, this.#record);
    this.parse(datapoint, this.#record, length);
  }

  /**
   * Reads the record of a datapoint.
   *
   * @param record Bytes that start with it.
   * @param length How many of them are its own.
   * @throws {FormatError} With code `bad-reference`.
   */
  parse(datapoint: number, record: Uint8Array, length = record.length): void {
    const { keys } = this.#of;
    this.#bytes = record;
    this.#end = length;
    this.#at = 0;
    this.#datapoint = datapoint;
    const count = this.#arrayLength("the references must be an array");
    if (count !== keys.length) {
      this.#fail(
        `wrong number of references: ${count} for ${keys.length} keys`,
      );
    }
    for (let key = 0; key < keys.length; key++) {
      if (keys[key]!.type.isList) this.#list(key);
      else {
        this.first[key] = this.#integer(key);
        this.count[key] = 1;
        this.#checkRange(key);
      }
    }
    if (this.#at < length) {
      this.#fail(`${length - this.#at} bytes after the references`);
    }
  }

  /**
   * Makes sure that a key has the records that are referred to.
   *
   * @param length How many records it has.
   * @throws {FormatError} With code `bad-reference`.
   */
  checkRange(key: number, length: number): void {
    const first = this.first[key]!;
    const count = this.count[key]!;
    if (first >= 0 && count >= 0 && first + count <= length) return;
    const what = count === 1
      ? `record ${first}`
      : `${count} records from ${first}`;
    this.#fail(
      `reference out of range: ${what} of '${
        this.#of.keys[key]!.key
      }', whose bag has ${length}`,
    );
  }

  #checkRange(key: number): void {
    const { lengths } = this.#of;
    if (lengths !== undefined) this.checkRange(key, lengths[key]!);
  }

  #list(key: number): void {
    const items = this.#arrayLength(this.#wrongKind(key));
    if (items !== 0 && items !== 2) this.#fail(this.#wrongKind(key));
    this.first[key] = items === 0 ? 0 : this.#integer(key);
    this.count[key] = items === 0 ? 0 : this.#integer(key);
    this.#checkRange(key);
  }

  #wrongKind(key: number): string {
    const { key: name, type } = this.#of.keys[key]!;
    const expected = type.isList ? "a list's [first, count]" : "one index";
    return `reference of the wrong kind: '${name}' takes ${expected}`;
  }

  /** @param otherwise What is wrong where there is another value. */
  #arrayLength(otherwise: string): number {
    const head = this.#byte();
    if (head >> 4 === 0x9) return head & 0x0f;
    if (head === 0xdc) return this.#unsigned(2);
    if (head === 0xdd) return this.#unsigned(4);
    return this.#fail(head === 0xc1 ? NOT_MSGPACK : otherwise);
  }

  #integer(key: number): number {
    const head = this.#byte();
    if (head <= 0x7f) return head;
    if (head >= 0xe0) return head - 0x100;
    switch (head) {
      case 0xcc:
        return this.#unsigned(1);
      case 0xcd:
        return this.#unsigned(2);
      case 0xce:
        return this.#unsigned(4);
      case 0xcf:
        return this.#unsigned(4) * 2 ** 32 + this.#unsigned(4);
      case 0xd0:
        return this.#unsigned(1) << 24 >> 24;
      case 0xd1:
        return this.#unsigned(2) << 16 >> 16;
      case 0xd2:
        return this.#unsigned(4) | 0;
      case 0xd3:
        return (this.#unsigned(4) | 0) * 2 ** 32 + this.#unsigned(4);
      default:
        return this.#fail(head === 0xc1 ? NOT_MSGPACK : this.#wrongKind(key));
    }
  }

  #unsigned(bytes: number): number {
    let value = 0;
    for (let i = 0; i < bytes; i++) value = value * 256 + this.#byte();
    return value;
  }

  #byte(): number {
    if (this.#at >= this.#end) this.#fail(`${NOT_MSGPACK}: it ends early`);
    return this.#bytes[this.#at++]!;
  }

  #fail(what: string): never {
    const { path } = this.#of;
    throw new FormatError(
      "bad-reference",
      `${path}, datapoint ${this.#datapoint}: ${what}`,
      { path, sample: this.#datapoint },
    );
  }
}

/** Bytes of the longest references: the array's head, and for each key a list's head and two numbers. */
export function longestReferences(keys: number): number {
  return 5 + keys * (5 + 2 * 9);
}

const NOT_MSGPACK = "the references are not msgpack";
