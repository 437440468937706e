import type { ArrayCursor, BatchArrays } from "./array_cursor.ts";
import { CellFault } from "../cells/cell_fault.ts";
import { type ArrayClasses, type ArrayValues, loadedArrays } from "./arrays.ts";
import {
  type NumberName,
  type Numbers,
  numbersIn,
  widthOf,
} from "./numbers.ts";
import type { ArrowField } from "./schema.ts";

/** Maximum bytes of values that are read together, with those of dictionaries as often as they occur in a list. */
const LARGEST = 512 << 20;
/** Maximum number of list items that take no bytes: nulls, empty structures. */
const MOST_WITHOUT_BYTES = 1 << 20;
/** Bytes of a view, and maximum length of a value that lies in it. */
const VIEW = 16;
const INLINE = 12;

/** What reading an array needs next: bytes of a buffer of the batch, or the values of a dictionary. */
export type ArrayRequest =
  | { readonly buffer: number; readonly from: number; readonly to: number }
  | { readonly dictionary: ArrowField };

/** Values of a dictionary. */
export interface DictionaryValues extends ArrayValues {
  /** Bytes of all values. */
  readonly bytes: number;
  /** Returns the bytes of a value, or more. */
  sizeOf(index: number): number;
}

export interface ReadArray {
  readonly values: ArrayValues;
  /** Bytes that were read, and those of dictionaries to which they refer. */
  readonly bytes: number;
}

type Reading<T> = Generator<ArrayRequest, T, unknown>;

/**
 * Reads a range of the values of a field's array, and of its parts (Columnar.html, "Physical Memory Layout"). Yields
 * requests, each of which must be answered with exactly the bytes, or with {@linkcode DictionaryValues}. All offsets,
 * lengths and indices are checked. `loadArrays` must have ended before.
 *
 * @throws {CellFault} If it is damaged, or too large.
 */
export function* readArray(
  field: ArrowField,
  batch: BatchArrays,
  at: ArrayCursor,
  from: number,
  to: number,
): Reading<ReadArray> {
  const reader = new ArrayReader(batch, at);
  const values = yield* reader.read(field, from, to, false);
  return { values, bytes: reader.bytes + reader.referred };
}

class ArrayReader {
  readonly #batch: BatchArrays;
  readonly #classes: ArrayClasses = loadedArrays()!;
  #node: number;
  #buffer: number;
  #view: number;
  /** Bytes that were read, and of dictionaries. */
  bytes = 0;
  referred = 0;

  constructor(batch: BatchArrays, { node, buffer, view }: ArrayCursor) {
    this.#batch = batch;
    this.#node = node;
    this.#buffer = buffer;
    this.#view = view;
  }

  *read(
    field: ArrowField,
    from: number,
    to: number,
    isListed: boolean,
  ): Reading<ArrayValues> {
    const [count, nullsInAll] = this.#batch.nodes[this.#node++] ?? [-1, 0];
    const length = to - from;
    if (!(to <= count)) {
      throw new CellFault(
        `has ${count} values, and at least ${to} are needed`,
      );
    }
    const { stored, dictionary, parts } = field;
    const all = this.#classes;
    const hasBuffers = stored.is !== "null" || dictionary !== undefined;
    const valid = hasBuffers
      ? yield* this.#validity(from, to, nullsInAll)
      : { validity: undefined, nullCount: length };
    const base = { length, ...valid, type: {} };
    if (dictionary !== undefined) {
      const values = yield* this.#numbers(dictionary.indices, from, to);
      return yield* this.#indexed(
        new all.DirectBatch({ ...base, values }),
        field,
        isListed,
      );
    }
    switch (stored.is) {
      case "null":
        this.#requireFew(length, isListed);
        return new all.NullBatch(base);
      case "numbers": {
        const values = yield* this.#numbers(stored.of, from, to);
        return new all.DirectBatch({ ...base, values });
      }
      case "bits":
        return new all.BoolBatch({
          ...base,
          values: yield* this.#bits(from, to),
        });
      case "fixed": {
        const { size } = stored;
        if (size === 0) this.#requireFew(length, isListed);
        const values = yield* this.#next(from * size, to * size);
        return new all.FixedBinaryBatch({
          ...base,
          type: { stride: size },
          values,
        });
      }
      case "decimal": {
        const { size } = stored;
        const values = yield* this.#next(from * size, to * size);
        return size === 4
          ? new all.DirectBatch({ ...base, values: numbersIn(values, "int32") })
          : new all.DecimalBigIntBatch({
            ...base,
            type: { bitWidth: 8 * size, scale: 0 },
            values: numbersIn(values, "uint64"),
          });
      }
      case "variable": {
        const { offsets, start, end } = yield* this.#offsets(
          stored.isLarge,
          from,
          to,
        );
        const values = yield* this.#next(start, end);
        return new all.BinaryBatch({ ...base, offsets, values });
      }
      case "views": {
        const { validity } = valid;
        const { values, data } = yield* this.#views(
          from,
          to,
          (i) => validity !== undefined && !isSet(validity, i),
          isListed,
        );
        return new all.BinaryViewBatch({ ...base, values, data });
      }
      case "list": {
        const { offsets, start, end } = yield* this.#offsets(
          stored.isLarge,
          from,
          to,
        );
        const item = yield* this.read(parts[0]!, start, end, true);
        return new all.ListBatch({ ...base, offsets, children: [item] });
      }
      case "fixed-list": {
        const { size } = stored;
        const item = yield* this.read(parts[0]!, from * size, to * size, true);
        return new all.FixedListBatch({
          ...base,
          type: { stride: size },
          children: [item],
        });
      }
      case "struct": {
        if (parts.length === 0) this.#requireFew(length, isListed);
        const children: ArrayValues[] = [];
        for (const part of parts) {
          children.push(yield* this.read(part, from, to, isListed));
        }
        // Named by their indices, since names may be arbitrary and repeat.
        const type = { children: parts.map((_, i) => ({ name: String(i) })) };
        return new all.StructBatch({ ...base, type, children });
      }
    }
  }

  /** Reads bytes of the next buffer. */
  *#next(from: number, to: number): Reading<Uint8Array> {
    return yield* this.#bytesOf(this.#buffer++, from, to);
  }

  *#bytesOf(buffer: number, from: number, to: number): Reading<Uint8Array> {
    if (to === from) return new Uint8Array(0);
    this.#take(to - from);
    return (yield { buffer, from, to }) as Uint8Array;
  }

  #take(bytes: number): void {
    this.bytes += bytes;
    if (this.bytes <= LARGEST) return;
    throw new CellFault(
      `has values that take more than the limit of ${LARGEST} bytes together. Write it in smaller batches`,
      "too-large",
    );
  }

  #requireFew(length: number, isListed: boolean): void {
    if (!isListed || length <= MOST_WITHOUT_BYTES) return;
    throw new CellFault(
      `has lists of ${length} values without bytes, more than the limit of ${MOST_WITHOUT_BYTES}`,
      "too-large",
    );
  }

  /** Reads a bitmap, from a bit on that need not begin a byte. */
  *#bits(from: number, to: number): Reading<Uint8Array> {
    const bits = yield* this.#next(Math.floor(from / 8), Math.ceil(to / 8));
    const shift = from % 8;
    if (shift === 0 || from === to) return bits;
    return bits.map((byte, i) =>
      byte >> shift | (bits[i + 1] ?? 0) << 8 - shift
    );
  }

  *#validity(from: number, to: number, nullsInAll: number): Reading<{
    validity: Uint8Array | undefined;
    nullCount: number;
  }> {
    if (nullsInAll === 0) {
      this.#buffer++;
      return { validity: undefined, nullCount: 0 };
    }
    const validity = yield* this.#bits(from, to);
    let nullCount = 0;
    for (let i = 0; i < to - from; i++) {
      if (!isSet(validity, i)) nullCount++;
    }
    return { validity, nullCount };
  }

  *#numbers(of: NumberName, from: number, to: number): Reading<Numbers> {
    const width = widthOf(of);
    return numbersIn(yield* this.#next(from * width, to * width), of);
  }

  /** Reads offsets, as those from the first of them on. */
  *#offsets(isLarge: boolean, from: number, to: number): Reading<{
    offsets: Int32Array;
    start: number;
    end: number;
  }> {
    const offsets = new Int32Array(to - from + 1);
    if (from === to) { // an empty array may have no offsets at all
      this.#buffer++;
      return { offsets, start: 0, end: 0 };
    }
    const of = isLarge ? "int64" : "int32";
    const stored = yield* this.#numbers(of, from, to + 1);
    const start = Number(stored[0]);
    let end = start;
    for (let i = 0; i < offsets.length; i++) {
      const offset = Number(stored[i]);
      if (!(offset >= end && offset - start < 2 ** 31)) {
        throw new CellFault(
          `has offsets that do not ascend, at value ${from + i}`,
        );
      }
      offsets[i] = offset - start;
      end = offset;
    }
    if (start < 0) throw new CellFault("has an offset below 0");
    return { offsets, start, end };
  }

  /** Reads views, with the bytes to which they refer. */
  *#views(
    from: number,
    to: number,
    isNull: (index: number) => boolean,
    isListed: boolean,
  ): Reading<{ values: Uint8Array; data: Uint8Array[] }> {
    const values = (yield* this.#next(VIEW * from, VIEW * to)).slice();
    const view = new DataView(values.buffer);
    const [count = 0] = this.#batch.views[this.#view++] ?? [];
    const first = this.#buffer;
    this.#buffer += count;
    const spans = new Map<number, { start: number; end: number }>();
    const longer: number[] = [];
    for (let at = 0; at < values.length; at += VIEW) {
      const length = view.getInt32(at, true);
      const buffer = view.getInt32(at + 8, true);
      const start = view.getInt32(at + 12, true);
      if (isNull(at / VIEW)) {
        view.setInt32(at, 0, true); // nulls may have any view
      } else if (length < 0 || length > INLINE) {
        if (length < 0 || start < 0 || !(buffer >= 0 && buffer < count)) {
          throw new CellFault(
            `has a view of nothing, at value ${from + at / VIEW}`,
          );
        }
        if (isListed) this.#take(length);
        longer.push(at);
        const span = spans.get(buffer) ?? { start, end: 0 };
        spans.set(buffer, {
          start: Math.min(start, span.start),
          end: Math.max(start + length, span.end),
        });
      }
    }
    const data: Uint8Array[] = [];
    for (const [buffer, { start, end }] of spans) {
      data[buffer] = yield* this.#bytesOf(first + buffer, start, end);
    }
    for (const at of longer) {
      const { start } = spans.get(view.getInt32(at + 8, true))!;
      view.setInt32(at + 12, view.getInt32(at + 12, true) - start, true);
    }
    return { values, data };
  }

  *#indexed(
    indices: ArrayValues,
    of: ArrowField,
    isListed: boolean,
  ): Reading<ArrayValues> {
    const dictionary = (yield { dictionary: of }) as DictionaryValues;
    this.referred += dictionary.bytes;
    const { length } = indices;
    for (let i = 0; i < length; i++) {
      const index = indices.at(i);
      if (index === null) continue;
      const number = Number(index);
      if (!(number >= 0 && number < dictionary.length)) {
        throw new CellFault(
          `has index ${number} of a dictionary of ${dictionary.length} values`,
        );
      }
      if (isListed) this.#take(dictionary.sizeOf(number));
    }
    return new IndexedValues(indices, dictionary);
  }
}

/** Values of a dictionary by their indices. */
class IndexedValues implements ArrayValues {
  readonly #indices: ArrayValues;
  readonly #dictionary: ArrayValues;

  constructor(indices: ArrayValues, dictionary: ArrayValues) {
    this.#indices = indices;
    this.#dictionary = dictionary;
  }

  get length(): number {
    return this.#indices.length;
  }

  at(index: number): unknown {
    const number = this.#indices.at(index);
    return number === null ? null : this.#dictionary.at(Number(number));
  }

  /** Called by lists. */
  slice(start: number, end: number): unknown[] {
    return Array.from({ length: end - start }, (_, i) => this.at(start + i));
  }
}

function isSet(bits: Uint8Array, index: number): boolean {
  return (bits[index >> 3]! >> (index & 7) & 1) === 1;
}
