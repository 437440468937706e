import { grown } from "../byte_output.ts";

/** Size limit of a pickle: `Int32Array` columns hold positions in it. */
export const LONGEST_PICKLE = 2 ** 31 - 1;

export class IntColumn {
  length = 0;
  values = new Int32Array(64);

  push(value: number): void {
    if (this.length === this.values.length) {
      this.values = grown(this.values, new Int32Array(2 * this.length));
    }
    this.values[this.length++] = value;
  }

  /** Removes and returns the last value, or returns -1 if empty. */
  pop(): number {
    return this.length === 0 ? -1 : this.values[--this.length]!;
  }

  /** Last value, or -1 if empty. */
  get last(): number {
    return this.length === 0 ? -1 : this.values[this.length - 1]!;
  }
}

/** Types of pickled values, with the meaning of their numbers `a` and `b` in {@linkcode ValueColumns}. */
export const Tag = {
  /** No value: an unset memo entry. */
  ABSENT: 0,
  NONE: 1,
  /** a: 0 or 1 */
  BOOL: 2,
  /** a: the number, a safe integer */
  INT: 3,
  /** a: the number */
  FLOAT: 4,
  /** UTF-8 in the pickle (surrogates as three bytes); a: its offset, b: its length in bytes */
  TEXT: 5,
  /** a: offset in the pickle, b: length */
  BYTES: 6,
  /** a string, integer or byte string that is not stored verbatim in the pickle; a: its index */
  SIDE: 7,
  /** a: the container's number */
  TUPLE: 8,
  LIST: 9,
  DICT: 10,
  SET: 11,
  /** an allowed class; a: its index in order of first use */
  CLASS: 12,
} as const;

/** Growable column store of pickled values: a tag and two numbers each, no objects. */
export class ValueColumns {
  length = 0;
  tags: Uint8Array;
  a: Float64Array;
  b: Uint32Array;
  readonly #most: number;

  constructor(capacity: number, most = Infinity) {
    this.#most = most;
    this.tags = new Uint8Array(capacity);
    this.a = new Float64Array(capacity);
    this.b = new Uint32Array(capacity);
  }

  push(tag: number, a: number, b: number): void {
    const at = this.length;
    if (at === this.tags.length) this.reserve(at + 1);
    this.tags[at] = tag;
    this.a[at] = a;
    this.b[at] = b;
    this.length = at + 1;
  }

  pushFrom(other: ValueColumns, row: number): void {
    this.push(other.tags[row]!, other.a[row]!, other.b[row]!);
  }

  pushAll(other: ValueColumns, from: number, count: number): void {
    const at = this.length;
    const end = at + count;
    if (end > this.tags.length) this.reserve(end);
    this.tags.set(other.tags.subarray(from, from + count), at);
    this.a.set(other.a.subarray(from, from + count), at);
    this.b.set(other.b.subarray(from, from + count), at);
    this.length = end;
  }

  /** Grows the capacity to at least `length` values; unset ones are {@linkcode Tag.ABSENT}. */
  reserve(length: number): void {
    if (length > this.#most) {
      throw new RangeError(`it has more than ${this.#most} values`);
    }
    const capacity = Math.max(length, this.tags.length * 2);
    this.tags = grown(this.tags, new Uint8Array(capacity));
    this.a = grown(this.a, new Float64Array(capacity));
    this.b = grown(this.b, new Uint32Array(capacity));
  }
}

/**
 * Items of all tuples, lists, dicts and sets of a pickle. A container is a chain of segments (a pickler writes at most
 * 1000 items at a time), each a range of one shared column store; a dict's items alternate between key and value. Names
 * with a number each may stay in the pickle instead (`numbered_items.ts`).
 */
export class Containers {
  readonly items: ValueColumns;
  readonly #firstSegment = new IntColumn();
  readonly #lastSegment = new IntColumn();
  /** Row of a segment's first item, or the offset of its first name in the pickle. */
  readonly #starts = new IntColumn();
  /** Number of a segment's items, or of its names, negated. */
  readonly #counts = new IntColumn();
  readonly #next = new IntColumn();

  constructor(capacity: number, most = Infinity) {
    this.items = new ValueColumns(Math.min(capacity, most), most);
  }

  get length(): number {
    return this.#firstSegment.length;
  }

  /** Number of names that stay in the pickle, in all containers. */
  numberedItems = 0;

  create(): number {
    this.#firstSegment.push(-1);
    this.#lastSegment.push(-1);
    return this.length - 1;
  }

  append(
    container: number,
    values: ValueColumns,
    from: number,
    count: number,
  ): void {
    if (count === 0) return;
    const last = this.#lastSegment.values[container]!;
    const end = last < 0
      ? -1
      : this.#starts.values[last]! + this.#counts.values[last]!;
    if (end === this.items.length && this.#counts.values[last]! > 0) {
      this.#counts.values[last]! += count; // extends the segment
    } else this.#addSegment(container, this.items.length, count);
    this.items.pushAll(values, from, count);
  }

  /** Appends `count` names with a number each to a dict; the first is at `start` in the pickle. */
  appendNumbered(container: number, start: number, count: number): void {
    this.#addSegment(container, start, -count);
    this.numberedItems += count;
  }

  #addSegment(container: number, start: number, count: number): void {
    const segment = this.#starts.length;
    this.#starts.push(start);
    this.#counts.push(count);
    this.#next.push(-1);
    const last = this.#lastSegment.values[container]!;
    if (last >= 0) this.#next.values[last] = segment;
    else this.#firstSegment.values[container] = segment;
    this.#lastSegment.values[container] = segment;
  }

  /** Returns the rows of a container's items, at most the first `most`. */
  rowsOf(container: number, most = Infinity): number[] {
    const rows: number[] = [];
    this.forEachRun(container, (start, count) => {
      const end = start + Math.min(count, most - rows.length);
      for (let row = start; row < end; row++) rows.push(row);
    });
    return rows;
  }

  /** Calls `visit` with each range of items, in order, and `visitNumbered` with each range left in the pickle. */
  forEachRun(
    container: number,
    visit: (start: number, count: number) => void,
    visitNumbered: (start: number, count: number) => void = noNames,
  ): void {
    for (
      let segment = this.#firstSegment.values[container]!;
      segment >= 0;
      segment = this.#next.values[segment]!
    ) {
      const count = this.#counts.values[segment]!;
      const start = this.#starts.values[segment]!;
      if (count > 0) visit(start, count);
      else visitNumbered(start, -count);
    }
  }
}

function noNames(): never {
  throw new TypeError("Only a dict has names with numbers");
}
