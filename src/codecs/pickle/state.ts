import type { ByteReader } from "./byte_reader.ts";
import { type AllowedClasses, type ClassRole, ROLES } from "./class_roles.ts";
import { Containers, IntColumn, Tag, ValueColumns } from "./columns.ts";
import { measureNumberedItems, numberedItems } from "./numbered_items.ts";
import { Op, opcodeName } from "./opcodes.ts";
import { PickleError } from "./pickle_error.ts";

/**
 * State of the pickle machine: the stack with its marks, the memo, and the containers. Calls of classes execute no
 * code: each creates a row of columns.
 */
export class PickleState {
  readonly values: ValueColumns;
  readonly marks = new IntColumn();
  readonly memo: ValueColumns;
  readonly containers: Containers;
  /** Number of memo entries that are set, which is MEMOIZE's next key. */
  memoized = 0;
  readonly #input: ByteReader;
  readonly #allowed: AllowedClasses;
  /** Runs of names whose memo entries are deferred: first key, offset and count of each. */
  readonly #unmade: IntColumn = new IntColumn();
  #emptyTuple = -1;
  #copied = 0;

  /**
   * @param input The pickle: its length bounds the memo, its position is for messages.
   * @param most Limit of values, for each of the stack, the memo and the containers.
   */
  constructor(input: ByteReader, allowed: AllowedClasses, most: number) {
    const { length } = input.bytes;
    this.values = new ValueColumns(Math.min(4096, most), most);
    this.#input = input;
    this.#allowed = allowed;
    // A named entry takes about 24 bytes of pickle: a memo entry and two items.
    this.memo = new ValueColumns(Math.min((length >>> 4) + 16, most), most);
    this.containers = new Containers((length >>> 3) + 16, most);
  }

  /** Returns the start of the topmost `count` values; a mark among them is an underflow. */
  top(count: number): number {
    const floor = Math.max(this.marks.last, 0);
    const start = this.values.length - count;
    if (start < floor) this.#input.bad("stack underflow");
    return start;
  }

  popMark(): number {
    const mark = this.marks.pop();
    if (mark < 0) this.#input.bad("stack underflow: there is no mark");
    return mark;
  }

  /** Pushes the empty tuple, which is shared: nothing can be added to it. */
  pushEmptyTuple(): void {
    if (this.#emptyTuple < 0) this.#emptyTuple = this.containers.create();
    this.values.push(Tag.TUPLE, this.#emptyTuple, 0);
  }

  /**
   * Adds names with a number each to the dict on top of the stack, if nothing else is between the MARK just read and
   * its SETITEMS: a folder of files. The names stay in the pickle, and their memo entries are deferred.
   *
   * @returns `false`, with nothing changed, if there is anything else.
   */
  setNumberedItems(): boolean {
    const { values, memo } = this;
    const { bytes, position } = this.#input;
    const top = values.length - 1;
    if (
      top < Math.max(this.marks.last, 0) || values.tags[top] !== Tag.DICT ||
      memo.length !== this.memoized // set by PUT, with gaps
    ) return false;
    const { end, count } = measureNumberedItems(bytes, position);
    if (count === 0 || bytes[end] !== Op.SETITEMS) return false;
    this.#unmade.push(memo.length);
    this.#unmade.push(position);
    this.#unmade.push(count);
    this.memoized += count;
    if (this.memoized > memo.tags.length) memo.reserve(this.memoized);
    memo.length = this.memoized;
    this.containers.appendNumbered(values.a[top]!, position, count);
    this.#input.position = end + 1;
    return true;
  }

  /** Creates the memo entries of all deferred runs of names. */
  #makeEntries(): void {
    const { memo } = this;
    const { length } = memo;
    for (let run = 0; run < this.#unmade.length; run += 3) {
      const [first, position, count] = this.#unmade.values.subarray(run);
      memo.length = first!;
      const items = numberedItems(this.#input.bytes, position!, count!);
      for (const { start, end } of items) {
        memo.push(Tag.TEXT, start, end - start);
      }
    }
    this.#unmade.length = 0;
    memo.length = length;
  }

  get(key: number): void {
    if (this.memo.tags[key] === Tag.ABSENT) this.#makeEntries();
    if (key >= this.memo.length || this.memo.tags[key] === Tag.ABSENT) {
      this.#input.bad(`unknown memo entry ${key}`);
    }
    this.values.pushFrom(this.memo, key);
  }

  put(key: number): void {
    const memo = this.memo;
    // Picklers number entries from 0, and each entry takes at least a byte.
    if (key > this.#input.bytes.length) {
      this.#input.bad(`memo entry ${key} is out of range`);
    }
    const from = this.top(1);
    if (key >= memo.tags.length) memo.reserve(key + 1);
    if (key < memo.length && memo.tags[key] === Tag.ABSENT) {
      this.#makeEntries();
    }
    if (memo.tags[key] === Tag.ABSENT) this.memoized++;
    memo.tags[key] = this.values.tags[from]!;
    memo.a[key] = this.values.a[from]!;
    memo.b[key] = this.values.b[from]!;
    memo.length = Math.max(memo.length, key + 1);
  }

  /** Replaces the values from `from` on with a container of them. */
  gather(tag: number, from: number): void {
    const container = this.containers.create();
    this.containers.append(
      container,
      this.values,
      from,
      this.values.length - from,
    );
    this.values.length = from;
    this.values.push(tag, container, 0);
  }

  /** Moves the values from `from` on into the container below them. */
  extend(tag: number, from: number): void {
    const stack = this.values;
    const count = stack.length - from;
    stack.length = from;
    const target = this.top(1);
    if (stack.tags[target] !== tag) {
      this.#input.bad("items are added to a value that takes none");
    }
    this.containers.append(stack.a[target]!, stack, from, count);
  }

  setItems(from: number): void {
    if ((this.values.length - from) % 2 !== 0) {
      this.#input.bad("odd number of items");
    }
    this.extend(Tag.DICT, from);
  }

  /**
   * Fills a dict from constructor arguments: none, or a list of [key, value] lists, as Python 2 pickles an OrderedDict.
   * Returns whether the arguments have this form.
   */
  #fillFromPairs(container: number, args: number): boolean {
    const items = this.containers.items;
    const argument = this.containers.rowsOf(args);
    if (argument.length === 0) return true;
    const [list] = argument;
    const isSequence = (row: number) =>
      items.tags[row] === Tag.LIST || items.tags[row] === Tag.TUPLE;
    if (argument.length !== 1 || !isSequence(list!)) return false;
    const source = items.a[list!]!;
    // Further references to a list cost hardly any bytes, so the copied total is bounded by the pickle's length.
    this.containers.forEachRun(source, (_, count) => this.#copied += count);
    if (this.#copied > this.#input.bytes.length) {
      this.#input.bad("one list of pairs is used for many dicts");
    }
    const pairs = new ValueColumns(256);
    for (const row of this.containers.rowsOf(source)) {
      const pair = isSequence(row) ? this.containers.rowsOf(items.a[row]!) : [];
      if (pair.length !== 2) {
        this.#input.bad("an item of OrderedDict is not a pair");
      }
      for (const part of pair) pairs.pushFrom(items, part);
    }
    this.containers.append(container, pairs, 0, pairs.length);
    return true;
  }

  /** Pushes a class, or throws an error that names it. */
  pushClass(module: string, name: string): void {
    const path = `${module}.${name}`;
    const role = this.#allowed.get(path);
    if (role === undefined) this.refuse(path);
    this.values.push(Tag.CLASS, ROLES.indexOf(role), 0);
  }

  /** REDUCE or NEWOBJ: calls the class below the top with the tuple on top. */
  call(opcode: number): void {
    const stack = this.values;
    const from = this.top(2);
    if (stack.tags[from] !== Tag.CLASS) {
      this.refuse(`${opcodeName(opcode)} calls something that is not a class`);
    }
    if (stack.tags[from + 1] !== Tag.TUPLE) {
      this.#input.bad("the arguments of a call are not a tuple");
    }
    const role = ROLES[stack.a[from]!]!;
    const args = stack.a[from + 1]!;
    stack.length = from;
    if (role === "dict") this.#makeDict(args);
    else if (role === "triple") this.#makeTriple(args);
    else if (role === "reconstructor") this.#reconstruct(args);
    else this.refuse("a call of tuple");
  }

  refuse(what: string): never {
    const makers = [...this.#allowed].filter(([_, role]) =>
      role === "dict" || role === "triple"
    );
    const allowed = makers.map(([name]) => name).join(", ");
    throw new PickleError(
      "unsafe-pickle",
      this.#input.position,
      `refused to execute ${what}: only ${
        allowed || "no class at all"
      } may be used, without calling anything else`,
    );
  }

  #makeDict(args: number): void {
    const container = this.containers.create();
    this.values.push(Tag.DICT, container, 0);
    if (!this.#fillFromPairs(container, args)) {
      this.refuse("OrderedDict with other arguments than a list of pairs");
    }
  }

  #makeTriple(args: number): void {
    if (this.containers.rowsOf(args, 4).length !== 3) {
      this.refuse("a named tuple of other than three values");
    }
    this.values.push(Tag.TUPLE, args, 0); // tuples never change
  }

  /** `_reconstructor(cls, tuple, values)`. */
  #reconstruct(args: number): void {
    const { tags, a } = this.containers.items;
    const [cls, base, values, ...more] = this.containers.rowsOf(args, 4);
    const isRole = (row: number | undefined, role: ClassRole) =>
      row !== undefined && tags[row] === Tag.CLASS && ROLES[a[row]!] === role;
    const fits = isRole(cls, "triple") && isRole(base, "tuple") &&
      values !== undefined && tags[values] === Tag.TUPLE && more.length === 0;
    if (!fits) this.refuse("_reconstructor for other than a named tuple");
    this.#makeTriple(a[values]!);
  }
}
