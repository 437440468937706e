/**
 * What a pickled value is. The two numbers beside the tag say which one:
 * see {@linkcode ValueColumns}.
 */
export const Tag = {
  /** No value: a memo entry never set. */
  ABSENT: 0,
  NONE: 1,
  /** a: 0 or 1 */
  BOOL: 2,
  /** a: the number, a safe integer */
  INT: 3,
  /** a: the number */
  FLOAT: 4,
  /** UTF-8 in the pickle (surrogates as three bytes); a: where it starts, b: its length in bytes */
  TEXT: 5,
  /** a: where it starts in the pickle, b: its length */
  BYTES: 6,
  /** a string, integer or byte string that is not in the pickle as such; a: its index */
  SIDE: 7,
  /** a: the container's number */
  TUPLE: 8,
  LIST: 9,
  DICT: 10,
  SET: 11,
  /** An allowed class; a: its index in the order of first use */
  CLASS: 12,
} as const;

/** A growing column store of pickled values: a tag and two numbers each, no objects. */
export class ValueColumns {
  length = 0;
  tags: Uint8Array;
  a: Float64Array;
  b: Uint32Array;

  /** @param capacity Values it has room for at first; memory not written to is not taken. */
  constructor(capacity: number) {
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

  /** Appends one value of another store. */
  pushFrom(other: ValueColumns, row: number): void {
    this.push(other.tags[row]!, other.a[row]!, other.b[row]!);
  }

  /** Appends the values `from … from + count` of another store. */
  pushAll(other: ValueColumns, from: number, count: number): void {
    const at = this.length;
    const end = at + count;
    if (end > this.tags.length) this.reserve(end);
    this.tags.set(other.tags.subarray(from, from + count), at);
    this.a.set(other.a.subarray(from, from + count), at);
    this.b.set(other.b.subarray(from, from + count), at);
    this.length = end;
  }

  /** Makes room for `length` values; those not set are {@linkcode Tag.ABSENT}. */
  reserve(length: number): void {
    const capacity = Math.max(length, this.tags.length * 2);
    this.tags = grown(this.tags, new Uint8Array(capacity));
    this.a = grown(this.a, new Float64Array(capacity));
    this.b = grown(this.b, new Uint32Array(capacity));
  }
}

function grown<T extends { set(from: T): void }>(from: T, to: T): T {
  to.set(from);
  return to;
}
