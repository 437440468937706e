import { bytesOf } from "../../bytes_of.ts";
import { Op } from "./opcodes.ts";
import { OpenContainer } from "./open_container.ts";
import { PickleEmitter } from "./pickle_emitter.ts";

/** A value that can be pickled: plain data. */
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
 * Writes plain data as a pickle (protocol 4) that Python 3.4 and later reads, and `readPickle`.
 *
 * Arrays become `list`; `Map` and plain objects `dict`, in the order of their keys; `Set` becomes
 * `set`; `Uint8Array` and buffers `bytes`; `null` `None`; a `bigint` and a number without fraction
 * up to 2^53 `int`, any other number (-0, NaN and infinities too) `float`. Where Python wants what
 * never changes, in keys and members of sets, an array becomes `tuple` and a `Set` `frozenset`. An object that
 * occurs in several places is written once, and is one object for the reader.
 *
 * Nothing else is taken: not `undefined`, functions, symbols, dates, instances of classes, arrays
 * of numbers other than `Uint8Array` (hand over their bytes), nor what contains itself.
 *
 * @throws {TypeError} If the value holds something else; the message says where.
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

/** Longer strings are not looked up whether they were there before. */
const LONGEST_SHARED = 64;

/** Pickles one value. */
class PickleWriter {
  readonly #out = new PickleEmitter();
  /** From the outermost container to the one being written: a list, since data nest deep. */
  readonly #open: OpenContainer[] = [];
  readonly #inside = new Set<object>();
  readonly #shared = new Map<object | string, number>();
  /** The same for what is written as `tuple` or `frozenset`. */
  readonly #sharedKeys = new Map<object, number>();

  write(root: unknown): Uint8Array<ArrayBuffer> {
    this.#value(root, false);
    for (
      let container = this.#open.at(-1);
      container !== undefined;
      container = this.#open.at(-1)
    ) {
      const { done, value } = container.next(this.#out);
      if (done === true) this.#close(container);
      else this.#value(value, container.wantsHashable);
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
    const container = OpenContainer.of(value, isKey);
    if (typeof container === "string") this.#refuse(container);
    container.begin(this.#out);
    if (!isKey) this.#share(value, isKey); // a tuple is there only when it is complete
    this.#open.push(container);
    this.#inside.add(value);
  }

  #close(container: OpenContainer): void {
    const { value, isKey } = container;
    if (isKey) this.#share(value, isKey);
    this.#open.pop();
    this.#inside.delete(value);
  }

  /** Has the value that was emitted last found again. */
  #share(value: object, isKey: boolean): void {
    (isKey ? this.#sharedKeys : this.#shared).set(value, this.#out.memoize());
  }

  #refuse(what: string): never {
    const place = this.#open.map(({ place }) => place).join("");
    throw new TypeError(
      `Cannot pickle ${what}, at value${shortened(place)}: only plain data ` +
        `can be pickled`,
    );
  }
}

/** Typed arrays of larger numbers have an order of bytes: those are for the caller to choose. */
function isBytes(value: object): boolean {
  return value instanceof Uint8Array || !ArrayBuffer.isView(value);
}

function shortened(place: string): string {
  return place.length <= 200 ? place : `…${place.slice(-200)}`;
}
