import { decodePickledText } from "./text.ts";
import { ORDERED_DICT } from "./class_calls.ts";
import { PickleMachine } from "./machine.ts";
import { numberedItems } from "./numbered_items.ts";
import { PickleError } from "./pickle_error.ts";
import { Tag, type ValueColumns } from "./columns.ts";

/** A value of a pickle of plain data. */
export type PickledValue =
  | null
  | boolean
  | number
  | bigint
  | string
  | Uint8Array
  | PickledValue[]
  | Map<PickledValue, PickledValue>
  | Set<PickledValue>;

/**
 * Reads a Python pickle (protocols 0 to 5) of plain data.
 *
 * Nothing is ever executed: `dict` and `OrderedDict` become `Map`, `list` and `tuple` become
 * arrays, `set` and `frozenset` become `Set`, `bytes` and `bytearray` become `Uint8Array`, `None`
 * becomes `null`, an `int` beyond 2^53 a `bigint`. Any other class is refused by name.
 *
 * @param bytes The pickle.
 * @throws {PickleError} If it is damaged (`code: "bad-pickle"`) or names a class (`code: "unsafe-pickle"`).
 */
export function readPickle(bytes: Uint8Array): PickledValue {
  const machine = new PickleMachine(bytes, ORDERED_DICT);
  const stack = machine.run();
  return new PlainData(machine).build(stack);
}

/** Turns the machine's columns into objects, each container once, so shared ones stay shared. */
class PlainData {
  readonly #machine: PickleMachine;
  readonly #made = new Map<number, PickledValue>();
  readonly #strings = new Map<number, PickledValue>();
  readonly #toFill: number[] = [];

  constructor(machine: PickleMachine) {
    this.#machine = machine;
  }

  build(stack: ValueColumns): PickledValue {
    const root = this.#value(stack, stack.length - 1);
    // A loop, not recursion: pickles may nest deeper than the call stack.
    for (
      let next = this.#toFill.pop();
      next !== undefined;
      next = this.#toFill.pop()
    ) {
      this.#fill(next);
    }
    return root;
  }

  #value(rows: ValueColumns, row: number): PickledValue {
    const a = rows.a[row]!;
    const { bytes, side } = this.#machine;
    switch (rows.tags[row]) {
      case Tag.NONE:
        return null;
      case Tag.BOOL:
        return a === 1;
      case Tag.INT:
      case Tag.FLOAT:
        return a;
      case Tag.TEXT:
        return this.#once(
          a,
          () => decodePickledText(bytes, a, a + rows.b[row]!),
        );
      case Tag.BYTES:
        return this.#once(a, () => bytes.slice(a, a + rows.b[row]!));
      case Tag.SIDE:
        return side[a]!;
      case Tag.CLASS:
        throw new PickleError(
          "unsafe-pickle",
          bytes.length,
          "the pickle's data hold a class",
        );
      default:
        return this.#container(rows.tags[row]!, a);
    }
  }

  /** A string or byte string that starts at `start`; references to it from the memo share it. */
  #once(start: number, make: () => PickledValue): PickledValue {
    let made = this.#strings.get(start);
    if (made === undefined) this.#strings.set(start, made = make());
    return made;
  }

  #container(tag: number, container: number): PickledValue {
    let made = this.#made.get(container);
    if (made === undefined) {
      made = tag === Tag.DICT ? new Map() : tag === Tag.SET ? new Set() : [];
      this.#made.set(container, made);
      this.#toFill.push(container);
    }
    return made;
  }

  #fill(container: number): void {
    const { bytes, containers } = this.#machine;
    const items = containers.items;
    const target = this.#made.get(container);
    containers.forEachRun(container, (start, count) => {
      for (let row = start; row < start + count; row++) {
        const value = this.#value(items, row);
        if (target instanceof Map) {
          target.set(value, this.#value(items, ++row));
        } else if (target instanceof Set) target.add(value);
        else if (Array.isArray(target)) target.push(value);
      }
    }, (start, count) => {
      if (!(target instanceof Map)) return;
      for (const item of numberedItems(bytes, start, count)) {
        const name = () => decodePickledText(bytes, item.start, item.end);
        target.set(this.#once(item.start, name), item.value);
      }
    });
  }
}
