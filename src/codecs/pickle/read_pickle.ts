import { decodePickledText } from "./text.ts";
import { ORDERED_DICT } from "./class_roles.ts";
import { PickleMachine } from "./machine.ts";
import { numberedItems } from "./numbered_items.ts";
import { PickleError } from "./pickle_error.ts";
import { Tag, type ValueColumns } from "./columns.ts";

/** Value of a pickle of plain data. */
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
 * Never executes anything: `dict` and `OrderedDict` become `Map`, `list` and `tuple` become arrays, `set` and
 * `frozenset` become `Set`, `bytes` and `bytearray` become `Uint8Array`, `None` becomes `null`, an `int` beyond 2^53
 * becomes a `bigint`. Any other class is an error that names it.
 *
 * @param bytes The pickle.
 * @param most Approximate limit of the number of values.
 * @throws {PickleError} If it is damaged (`code: "bad-pickle"`) or names a class (`code: "unsafe-pickle"`).
 * @throws {RangeError} If it has more values.
 */
export function readPickle(
  bytes: Uint8Array,
  most = Infinity,
): PickledValue {
  const machine = new PickleMachine(bytes, ORDERED_DICT, undefined, most);
  const stack = machine.run();
  return plainData(machine, stack);
}

/** Converts the machine's columns to objects, each container once, so that shared ones stay shared. */
function plainData(machine: PickleMachine, stack: ValueColumns): PickledValue {
  const { bytes, containers, side } = machine;
  const made = new Map<number, PickledValue>();
  const strings = new Map<number, PickledValue>();
  const toFill: number[] = [];
  /** Creates the string or bytes at `start` once; memo references share it. */
  const once = (start: number, make: () => PickledValue) => {
    let string = strings.get(start);
    if (string === undefined) strings.set(start, string = make());
    return string;
  };
  const text = (start: number, end: number) =>
    once(start, () => decodePickledText(bytes, start, end));
  const containerOf = (tag: number, container: number) => {
    let value = made.get(container);
    if (value === undefined) {
      value = tag === Tag.DICT ? new Map() : tag === Tag.SET ? new Set() : [];
      made.set(container, value);
      toFill.push(container);
    }
    return value;
  };
  const valueOf = (rows: ValueColumns, row: number): PickledValue => {
    const a = rows.a[row]!;
    switch (rows.tags[row]) {
      case Tag.NONE:
        return null;
      case Tag.BOOL:
        return a === 1;
      case Tag.INT:
      case Tag.FLOAT:
        return a;
      case Tag.TEXT:
        return text(a, a + rows.b[row]!);
      case Tag.BYTES:
        return once(a, () => bytes.slice(a, a + rows.b[row]!));
      case Tag.SIDE:
        return side[a]!;
      case Tag.CLASS:
        throw new PickleError(
          "unsafe-pickle",
          bytes.length,
          "the pickle's data hold a class",
        );
      default:
        return containerOf(rows.tags[row]!, a);
    }
  };
  const root = valueOf(stack, stack.length - 1);
  // A loop, not recursion: pickles may nest deeper than the call stack.
  for (let next = toFill.pop(); next !== undefined; next = toFill.pop()) {
    const { items } = containers;
    const target = made.get(next);
    containers.forEachRun(next, (start, count) => {
      for (let row = start; row < start + count; row++) {
        const value = valueOf(items, row);
        if (target instanceof Map) target.set(value, valueOf(items, ++row));
        else if (target instanceof Set) target.add(value);
        else if (Array.isArray(target)) target.push(value);
      }
    }, (start, count) => {
      if (!(target instanceof Map)) return;
      const items = numberedItems(bytes, start, count);
      for (const { start, end, value } of items) {
        target.set(text(start, end), value);
      }
    });
  }
  return root;
}
