import { Buffer } from "node:buffer";
import { types } from "node:util";
import { bytesOf } from "../../base/bytes_of.ts";
import { Op } from "./opcodes.ts";
import { PickleEmitter } from "./pickle_emitter.ts";

/** Plain data that can be pickled. */
export type PickleableValue =
  | null
  | boolean
  | number
  | bigint
  | string
  | Uint8Array
  | ArrayBufferLike
  | readonly PickleableValue[]
  | ReadonlyMap<PickleableValue, PickleableValue>
  | ReadonlySet<PickleableValue>
  | { readonly [key: string]: PickleableValue };

/**
 * Pickles plain data in protocol 4, which Python 3.4 and later and `readPickle` read.
 *
 * Arrays become `list`; `Map` and plain objects `dict`, in key order; `Set` `set`; `Uint8Array` and buffers `bytes`;
 * `null` `None`; a `bigint` and an integral number up to 2^53 `int`, any other number (also -0, NaN and infinities)
 * `float`. Where Python needs hashable values, in keys and set members, an array becomes `tuple` and a `Set`
 * `frozenset`. An object that occurs several times is written once, and is one object for the reader.
 *
 * Rejects everything else: `undefined`, functions, symbols, dates, instances of classes, typed arrays other than
 * `Uint8Array` (pass their bytes), and cycles.
 *
 * @throws {TypeError} If the value holds anything else; the message says where.
 *
 * @example Write a sample that Python unpickles
 * ```ts
 * import { readPickle, writePickle } from "@recordfs/recordfs/ffrecord";
 * import assert from "node:assert/strict";
 *
 * const sample = writePickle({ label: 7, image: Uint8Array.of(1, 2, 3) });
 * const value = readPickle(sample);
 * assert.deepEqual(value, new Map<string, unknown>([["label", 7], ["image", Uint8Array.of(1, 2, 3)]]));
 * ```
 */
export function writePickle(value: PickleableValue): Uint8Array<ArrayBuffer> {
  return new PickleWriter().write(value);
}

/** Longest string that is memoized. */
const LONGEST_SHARED = 64;

class PickleWriter {
  readonly #out = new PickleEmitter();
  /** Open containers, outermost first; a list instead of recursion, since data may nest deep. */
  readonly #open: OpenContainer[] = [];
  readonly #inside = new Set<object>();
  readonly #shared = new Map<object | string, number>();
  /** Memo of values written as `tuple` or `frozenset`. */
  readonly #sharedKeys = new Map<object, number>();

  write(root: unknown): Uint8Array<ArrayBuffer> {
    this.#value(root, false);
    for (;;) {
      const container = this.#open.at(-1);
      if (container === undefined) break;
      const { done, value } = this.#next(container);
      if (done === true) this.#close(container);
      else this.#value(value, wantsHashable(container));
    }
    this.#out.op(Op.STOP);
    return this.#out.take();
  }

  #value(value: unknown, isKey: boolean): void {
    const out = this.#out;
    switch (typeof value) {
      case "string":
        return this.#text(value);
      case "number":
        return Number.isSafeInteger(value) && !Object.is(value, -0)
          ? out.int(value)
          : out.float(value);
      case "bigint":
        return out.int(value);
      case "boolean":
        return out.op(value ? Op.NEWTRUE : Op.NEWFALSE);
      case "object":
        return value === null ? out.op(Op.NONE) : this.#object(value, isKey);
      default:
        this.#refuse(value === undefined ? "undefined" : `a ${typeof value}`);
    }
  }

  #text(text: string): void {
    const known = this.#shared.get(text);
    if (known !== undefined) return this.#out.recall(known);
    this.#out.text(text);
    if (text.length > LONGEST_SHARED) return;
    this.#shared.set(text, this.#out.memoize());
  }

  #object(value: object, isKey: boolean): void {
    if (this.#inside.has(value)) this.#refuse("something that contains itself");
    const known = (isKey ? this.#sharedKeys : this.#shared).get(value);
    if (known !== undefined) return this.#out.recall(known);
    const bytes = isBytes(value) ? bytesOf(value) : undefined;
    if (bytes !== undefined) {
      this.#out.bytes(bytes);
      this.#share(value, isKey);
      return;
    }
    const { kind, items } = this.#takeApart(value, isKey);
    this.#out.op(kind.start);
    if (!isKey) this.#share(value, isKey); // a tuple can be memoized only when complete
    const iterator = items[Symbol.iterator]();
    this.#open.push({ value, isKey, kind, items: iterator, count: 0, last: 0 });
    this.#inside.add(value);
  }

  /** @param isKey Whether it is, or is part of, a `dict` key or a `set` member. */
  #takeApart(
    value: object,
    isKey: boolean,
  ): { readonly kind: Kind; readonly items: Iterable<unknown> } {
    if (Array.isArray(value)) {
      return { kind: isKey ? TUPLE : LIST, items: value };
    }
    if (types.isSet(value)) {
      this.#refuseDoubled("Set", value);
      return { kind: isKey ? FROZENSET : SET, items: value };
    }
    if (types.isMap(value)) {
      if (isKey) this.#refuse("a Map as a key");
      this.#refuseDoubled("Map", [...value.keys()]);
      return { kind: DICT, items: [...value].flat(1) };
    }
    if (Object.getOwnPropertySymbols(value).length > 0) {
      this.#refuse("an object with symbols as keys");
    }
    if (!isPlain(value)) {
      this.#refuse(`an instance of ${value.constructor?.name || "a class"}`);
    }
    if (isKey) this.#refuse("an object as a key");
    return { kind: DICT, items: Object.entries(value).flat(1) };
  }

  /** Returns the next item, and emits the opcodes before it or, at the end, after the last. */
  #next(container: OpenContainer): IteratorResult<unknown> {
    const { kind: { start, end, batch }, items } = container;
    const result = items.next();
    const isMarked = start === Op.MARK || container.count > 0;
    if (result.done === true) {
      if (isMarked) this.#out.op(end);
      return result;
    }
    if (container.count % batch === 0 && start !== Op.MARK) {
      if (isMarked) this.#out.op(end);
      this.#out.op(Op.MARK);
    }
    container.count++;
    if (wantsHashable(container)) container.last = result.value;
    return result;
  }

  #close(container: OpenContainer): void {
    const { value, isKey } = container;
    if (isKey) this.#share(value, isKey);
    this.#open.pop();
    this.#inside.delete(value);
  }

  #share(value: object, isKey: boolean): void {
    (isKey ? this.#sharedKeys : this.#shared).set(value, this.#out.memoize());
  }

  /** Rejects keys that Python would merge, losing an item. */
  #refuseDoubled(what: string, keys: Iterable<unknown>): void {
    if (!hasEqualKeys(keys)) return;
    this.#refuse(
      `a ${what} in which two keys are equal in Python, such as 1 and true`,
    );
  }

  #refuse(what: string): never {
    const place = this.#open.map(placeIn).join("");
    throw new TypeError(
      `Cannot pickle ${what}, at value${shortened(place)}: only plain data ` +
        `can be pickled`,
    );
  }
}

/** Whether a value is bytes. Typed arrays of larger numbers have a byte order, which the caller must choose. */
function isBytes(value: object): boolean {
  return value instanceof Uint8Array || !ArrayBuffer.isView(value);
}

function shortened(place: string): string {
  return place.length <= 200 ? place : `…${place.slice(-200)}`;
}

/** Batch size of Python's picklers. */
const BATCH = 1000;

interface Kind {
  /** Opcode that creates it empty, or MARK if it is created from its items at the end. */
  readonly start: number;
  /** Opcode that consumes the items after the mark. */
  readonly end: number;
  readonly batch: number;
}

const LIST: Kind = { start: Op.EMPTY_LIST, end: Op.APPENDS, batch: BATCH };
const DICT: Kind = { start: Op.EMPTY_DICT, end: Op.SETITEMS, batch: 2 * BATCH };
const SET: Kind = { start: Op.EMPTY_SET, end: Op.ADDITEMS, batch: BATCH };
const TUPLE: Kind = { start: Op.MARK, end: Op.TUPLE, batch: Infinity };
const FROZENSET: Kind = { start: Op.MARK, end: Op.FROZENSET, batch: Infinity };

interface OpenContainer {
  readonly value: object;
  /** Whether it is part of a key, and so must be hashable. */
  readonly isKey: boolean;
  readonly kind: Kind;
  readonly items: Iterator<unknown>;
  count: number;
  last: unknown;
}

/** Whether the next value is, or is part of, a key. */
function wantsHashable({ kind, count }: OpenContainer): boolean {
  return kind === DICT ? count % 2 === 1 : kind !== LIST;
}

/** Path of the current item in a container, as in code. */
function placeIn({ kind, count, last }: OpenContainer): string {
  if (kind !== DICT) return `[${count - 1}]`;
  if (typeof last === "string") return `[${JSON.stringify(last)}]`;
  return typeof last === "object" && last !== null
    ? "[…]"
    : `[${String(last)}]`;
}

function isPlain(value: object): boolean {
  const prototype = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** Nesting limit of keys, since Python's `hash` of nested tuples recurses. */
const DEEPEST_KEY = 100;

/**
 * Whether two keys that differ in JavaScript are equal in Python, such as `1` and `true`: a `dict` or `set` would keep
 * only one of them.
 *
 * @param keys Keys of a `Map` or members of a `Set`; iterated twice.
 */
function hasEqualKeys(keys: Iterable<unknown>): boolean {
  // Strings differ from each other and from all else, and so do numbers from each other.
  if (Iterator.from(keys).every(isDistinct)) return false;
  const seen = new Set<string>();
  for (const key of keys) {
    const name = canonical(key, 0);
    if (seen.has(name)) return true;
    seen.add(name);
  }
  return false;
}

function isDistinct(key: unknown): boolean {
  return typeof key === "string" || typeof key === "number" || key === null;
}

let unknown = 0;

/** Returns a text that is the same for keys that are equal in Python. */
function canonical(key: unknown, depth: number): string {
  if (depth > DEEPEST_KEY) {
    throw new TypeError(
      `Cannot pickle a key that nests deeper than ${DEEPEST_KEY} levels, or ` +
        `contains itself`,
    );
  }
  switch (typeof key) {
    case "string":
      return `s${key.length}:${key}`;
    case "boolean":
      return `n${Number(key)}`;
    case "number":
      return `n${Number.isInteger(key) ? BigInt(key) : key}`;
    case "bigint":
      return `n${key}`;
  }
  const bytes = bytesOf(key);
  if (bytes !== undefined) {
    return `b${bytes.length}:${Buffer.from(bytes).toString("latin1")}`;
  }
  if (Array.isArray(key)) {
    return `(${key.map((item) => canonical(item, depth + 1)).join(",")})`;
  }
  if (types.isSet(key)) {
    const items = [...key].map((item) => canonical(item, depth + 1));
    return `{${items.sort().join(",")}}`;
  }
  // Values that cannot be keys are rejected when they are written.
  return key === null ? "None" : `?${unknown++}`;
}
