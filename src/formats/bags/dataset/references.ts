import { FormatError } from "../../../base/errors.ts";
import { MsgpackReader } from "../../../codecs/msgpack/read_msgpack.ts";
import type { Bag } from "../bag/bag.ts";
import type { SpecKey } from "./spec.ts";

interface ReferencedKeys {
  /** Path of `refs.bag`. */
  readonly path: string;
  /** Keys in the order of the references. */
  readonly keys: readonly SpecKey[];
  /** Number of records of each key's bag. Without it, the caller must call {@linkcode References.checkRange}. */
  readonly lengths?: readonly number[] | undefined;
}

/**
 * References of one datapoint, in generations 1 and 2: which records of each key's bag belong to it. They are a
 * MessagePack array with an entry per key: an index, or for a list type `[first, count]`, or `[]`. Two datapoints may
 * refer to the same record. The object is reused for every datapoint, to avoid allocations.
 */
export class References {
  /** First record of each key; 0 if there is none. */
  readonly first: Float64Array;
  /** Number of records of each key: 1 unless it is a list. */
  readonly count: Float64Array;
  readonly #of: ReferencedKeys;
  /** Buffer for the record, or its first bytes. */
  readonly #record: Uint8Array;
  readonly #reader: MsgpackReader;
  #datapoint = 0;

  constructor(of: ReferencedKeys) {
    this.#of = of;
    this.first = new Float64Array(of.keys.length);
    this.count = new Float64Array(of.keys.length);
    this.#record = new Uint8Array(longestReferences(of.keys.length) + 1);
    this.#reader = new MsgpackReader(
      this.#record,
      true, // rejects 1.0 as an index
      (_, reason) => this.#fail(`the references are not msgpack: ${reason}`),
    );
  }

  /**
   * Reads the references of a datapoint synchronously. Throws `bad-reference`, or `NotLoaded` if that is impossible.
   */
  read(datapoint: number, refs: Bag): void {
    this.#parse(datapoint, refs.copy(datapoint, this.#record));
  }

  /** Parses the references of a datapoint from its record. Throws `bad-reference`. */
  parse(datapoint: number, record: Uint8Array): void {
    const into = this.#record;
    // The first bytes suffice to reject a record that is longer than references can be.
    const length = Math.min(record.length, into.length);
    for (let i = 0; i < length; i++) into[i] = record[i]!;
    this.#parse(datapoint, length);
  }

  /** Returns the records of a key's list, limited to the range from `start` to `stop`. */
  part(
    key: number,
    { start, stop }: {
      readonly start: ArrayLike<number>;
      readonly stop: ArrayLike<number>;
    },
  ): { readonly first: number; readonly count: number } {
    const from = start[key]!;
    const count = Math.max(Math.min(stop[key]!, this.count[key]!) - from, 0);
    return { first: this.first[key]! + (count > 0 ? from : 0), count };
  }

  #parse(datapoint: number, length: number): void {
    const { keys } = this.#of;
    const reader = this.#reader;
    this.#datapoint = datapoint;
    reader.start(length);
    const count = reader.listHead();
    if (count < 0) this.#fail("the references must be an array");
    if (count !== keys.length) {
      this.#fail(
        `wrong number of references: ${count} for ${keys.length} keys`,
      );
    }
    for (let key = 0; key < keys.length; key++) {
      const items = keys[key]!.type.isList ? reader.listHead() : 1;
      if (keys[key]!.type.isList && items !== 0 && items !== 2) {
        this.#refuseKind(key);
      }
      this.first[key] = items === 0 ? 0 : this.#integer(key);
      this.count[key] = items === 2 ? this.#integer(key) : items;
      const { lengths } = this.#of;
      if (lengths !== undefined) this.checkRange(key, lengths[key]!);
    }
    if (reader.rest > 0) {
      this.#fail(`${reader.rest} bytes after the references`);
    }
  }

  #integer(key: number): number {
    const value = this.#reader.value();
    const number = typeof value === "bigint" ? Number(value) : value;
    return Number.isInteger(number) ? number as number : this.#refuseKind(key);
  }

  #refuseKind(key: number): never {
    const { key: name, type } = this.#of.keys[key]!;
    const expected = type.isList ? "a list's [first, count]" : "one index";
    this.#fail(`reference of the wrong kind: '${name}' takes ${expected}`);
  }

  /** Throws `bad-reference` unless the records referred to exist among the `length` records of the key. */
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

  #fail(what: string): never {
    const { path } = this.#of;
    throw new FormatError(
      "bad-reference",
      `Cannot read datapoint ${this.#datapoint} of ${path}: ${what}`,
      { path, sample: this.#datapoint },
    );
  }
}

/** Longest references in bytes: the array head, and for each key a list head and two numbers. */
export function longestReferences(keys: number): number {
  return 5 + keys * (5 + 2 * 9);
}
