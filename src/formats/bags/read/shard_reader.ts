import { inParallel } from "../../../io/concurrency/concurrency_limit.ts";
import { runSync, type Steps } from "../../../io/concurrency/steps.ts";
import type { GrowingMemory } from "../../../io/read/read_memory.ts";
import type { Spans } from "../../../tree/limits/limited_records.ts";
import type { FormatError } from "../../../base/errors.ts";
import { warnOfAll } from "../../../base/message_text.ts";
import { noteLines } from "../../../tree/archive/archive_notes.ts";
import { bagNotes, DamagedBag, recordLimit } from "../bag/damaged_bag.ts";
import { REFS_KEY } from "../dataset/dataset_names.ts";
import { openShard, type Shard } from "../dataset/open_shard.ts";
import { References } from "../dataset/references.ts";
import { decodersOf } from "../types/shipped.ts";
import type { BatchPart } from "./batch.ts";
import { Column, type Raw } from "./column.ts";
import { allEnded, whenMade } from "./made_values.ts";
import { setOwn } from "../../../codecs/set_own.ts";
import type { DatasetOptions } from "./dataset_options.ts";
import {
  type Datapoint,
  type Mask,
  Selection,
  unknownKey,
} from "./selection.ts";

/** In place of memory to read into: return views of memory maps of the bags. */
export const MAPPED = Symbol("mapped");

/** Reads and decodes the datapoints of one shard. Callers must validate indices. */
export class ShardReader {
  readonly shard: Shard;
  readonly length: number;
  /** Index of its first datapoint across all shards. */
  start = 0;
  /** One per key. Empty if bags are missing, since there is no datapoint. */
  readonly #columns: readonly Column[];
  readonly #decoding: readonly Column[];
  readonly #parallel: boolean;
  readonly #places: ReadonlyMap<string, number>;
  readonly #all: Selection;
  /** Reused by synchronous reads. */
  readonly #selection: Selection;
  /** `undefined` in generation 3, where record i of every key belongs to datapoint i. */
  readonly #references: References | undefined;
  /** Whether the bag of any key is damaged. */
  readonly isDamaged: boolean;

  /** Creates a reader of the first `length` datapoints of a shard whose bags are open. */
  constructor(
    shard: Shard,
    { decoders = decodersOf(shard.generation), parallel = false }:
      DatasetOptions,
    length: number = shard.length,
  ) {
    const { keys, bags } = shard;
    this.shard = shard;
    this.length = length;
    this.#columns = bags.map((bag, k) => new Column(keys[k]!, bag, decoders));
    this.#decoding = this.#columns.filter(({ decodes }) => decodes);
    this.#parallel = parallel;
    this.#places = new Map(keys.map(({ key }, k) => [key, k]));
    this.#all = this.#newSelection(undefined);
    this.#selection = this.#newSelection(undefined);
    const lengths = bags.map(recordLimit);
    this.#references = shard.refs &&
      new References({ path: shard.refs.path, keys, lengths });
    this.isDamaged = shard.damaged.length > 0;
  }

  /**
   * Opens a dataset without shards, or a shard. `path` has no trailing slash. With `ofSeveral`, a damaged bag is an
   * error only when its values are read.
   *
   * @throws {FormatError} If a file is missing or damaged.
   * @throws {RecordfsError} With code `unknown-key` if `cacheKeys` has an unknown key.
   */
  static *open(
    path: string,
    options: DatasetOptions,
    ofSeveral: boolean,
  ): Steps<ShardReader> {
    const { cacheIndex = true, cacheKeys = [] } = options;
    const shard = yield* openShard(path, { ...options, ofSeveral });
    try {
      shard.spec.close(); // already read
      const { keys, bags, refs } = shard;
      const names = keys.map(({ key }) => key);
      if (refs !== undefined) names.push(REFS_KEY);
      for (const key of cacheKeys) {
        if (!names.includes(key)) throw unknownKey({ path, keys }, key);
      }
      for (const [k, bag] of [...bags, ...refs ? [refs] : []].entries()) {
        const cacheData = cacheKeys.includes(
          bag === refs ? REFS_KEY : names[k]!,
        );
        yield* bag.hold(cacheIndex, cacheData);
      }
      warnOfAll(noteLines(yield* bagNotes(bags)), options.onWarning);
      return new ShardReader(shard, options);
    } catch (error) {
      shard.close();
      throw error;
    }
  }

  get path(): string {
    return this.shard.path;
  }

  close(): void {
    this.shard.close();
  }

  /** Returns the error for reading a datapoint, if the bag of a selected key is damaged. */
  damageOf(
    index: number,
    selection: Selection = this.#all,
  ): FormatError | undefined {
    if (!this.isDamaged) return undefined;
    const { path, keys, bags } = this.shard;
    for (const [k, bag] of bags.entries()) {
      if (selection.wanted[k] === 0 || !(bag instanceof DamagedBag)) continue;
      return bag.errorOf({
        key: keys[k]!.key,
        datapoint: index,
        sample: this.start + index,
        shard: path,
      });
    }
    return undefined;
  }

  #requireSound(index: number, selection: Selection): void {
    const damage = this.damageOf(index, selection);
    if (damage !== undefined) throw damage;
  }

  get size(): number {
    const { bags, refs } = this.shard;
    return bags.reduce((sum, { size }) => sum + size, refs?.size ?? 0);
  }

  /** Reads a datapoint synchronously; with `MAPPED`, as views of memory maps. */
  getSync(
    index: number,
    mask: Mask | undefined,
    memory: GrowingMemory | typeof MAPPED | undefined,
  ): Datapoint {
    const selection = mask === undefined
      ? this.#all
      : this.#selection.set(mask);
    if (this.isDamaged) this.#requireSound(index, selection);
    const references = this.#references;
    references?.read(index, this.shard.refs!);
    const datapoint: Datapoint = {};
    for (let i = 0; i < this.#columns.length; i++) {
      if (selection.wanted[i] === 0) continue;
      const { key, type, bag } = this.#columns[i]!;
      if (type.isList) {
        const { first, count } = references!.part(i, selection);
        const list = memory === MAPPED
          ? Array.from({ length: count }, (_, k) => bag.view(first + k))
          : runSync(bag.readRun(first, count, memory));
        setOwn(datapoint, key, list);
      } else { // the most common case: avoids a generator
        const record = references === undefined ? index : references.first[i]!;
        const bytes = memory === MAPPED
          ? bag.view(record)
          : bag.readSync(record, memory);
        setOwn(datapoint, key, bytes);
      }
    }
    return datapoint;
  }

  /** Reads one datapoint, in half the time that a batch of one takes. */
  *get(
    index: number,
    mask: Mask | undefined,
    memory: GrowingMemory | undefined,
  ): Steps<Datapoint> {
    const selection = this.#newSelection(mask);
    this.#requireSound(index, selection);
    const references = this.#references;
    if (references !== undefined) {
      const [record] = yield* this.shard.refs!.readRun(index, 1);
      references.parse(index, record!); // no await while this shared object is in use
    }
    const datapoint: Datapoint = {};
    const reading: Steps<void>[] = [];
    for (let i = 0; i < this.#columns.length; i++) {
      if (selection.wanted[i] === 0) continue;
      const { key, type, bag } = this.#columns[i]!;
      setOwn(datapoint, key, undefined); // keeps the order of the keys
      const { first, count } = type.isList
        ? references!.part(i, selection)
        : { first: references?.first[i] ?? index, count: 1 };
      const records = bag.readRun(first, count, memory);
      reading.push(put(datapoint, key, records, type.isList));
    }
    yield* this.#readAll(reading);
    return datapoint;
  }

  /**
   * Decodes a datapoint in place. All of it must have been read: a decoder may read, too, and reused memory would
   * change.
   *
   * @param mayWait Whether the result may be a promise.
   * @throws {FormatError} With code `bad-value`.
   * @throws {TypeError} If a decoder is asynchronous and `mayWait` is `false`.
   */
  decode(
    index: number,
    datapoint: Datapoint,
    mayWait: boolean,
  ): Datapoint | Promise<Datapoint> {
    let pending: Promise<void>[] | undefined;
    for (const column of this.#decoding) {
      const { key } = column;
      if (!Object.hasOwn(datapoint, key)) continue;
      const bytes = datapoint[key] as Raw | Raw[];
      const value = column.decode(bytes, index, mayWait);
      if (value instanceof Promise) {
        pending ??= [];
        pending.push(value.then((made) => setOwn(datapoint, key, made)));
      } else setOwn(datapoint, key, value);
    }
    return pending === undefined
      ? datapoint
      : allEnded(pending).then(() => datapoint);
  }

  *range(
    start: number,
    count: number,
    mask: Mask | undefined,
    memory: GrowingMemory | undefined,
  ): Steps<Record<string, unknown[]>> {
    const selection = this.#newSelection(mask);
    if (count > 0) this.#requireSound(start, selection);
    const indices = Array.from({ length: count }, (_, i) => start + i);
    const spans = yield* this.#spansOf(indices, selection, true);
    const values: Record<string, unknown[]> = {};
    const reading: Steps<void>[] = [];
    for (const [i, { key }] of this.shard.keys.entries()) {
      if (selection.wanted[i] === 0) continue;
      setOwn(values, key, []); // keeps the order of the keys
      if (count === 0) continue;
      const read = this.#columns[i]!.read(spans[i]!, memory);
      reading.push(put(values, key, read, true));
    }
    yield* this.#readAll(reading);
    return values;
  }

  *#readAll(reading: readonly Steps<void>[]): Steps<void> {
    if (this.#parallel) yield* inParallel(reading);
    else for (const steps of reading) yield* steps;
  }

  *decodeRange(start: number, values: Record<string, unknown[]>): Steps<void> {
    for (const column of this.#decoding) {
      const { key } = column;
      if (!Object.hasOwn(values, key)) continue;
      const read = values[key] as (Raw | Raw[])[];
      const decode = (mayWait: boolean) => (bytes: Raw | Raw[], i: number) =>
        column.decode(bytes, start + i, mayWait);
      const made = yield* whenMade(read, decode);
      setOwn(values, key, made);
    }
  }

  /** Locates what a batch must read, repeats allowed. `places` are the positions of the datapoints in the batch. */
  *partsOf(
    indices: readonly number[],
    places: readonly number[],
    mask: Mask | undefined,
  ): Steps<BatchPart[]> {
    const selection = this.#newSelection(mask);
    const [first] = indices;
    if (first !== undefined) this.#requireSound(first, selection);
    const spans = yield* this.#spansOf(indices, selection, false);
    const parts: BatchPart[] = [];
    for (const [i, column] of this.#columns.entries()) {
      if (selection.wanted[i] === 0) continue;
      const { bag, type } = column;
      const limits = type.isList ? yield* bag.limitsOf(spans[i]!) : undefined;
      const slices = limits?.map((ends) => ({
        source: 0,
        offset: ends[0]!,
        length: ends.at(-1)! - ends[0]!,
      })) ?? (yield* bag.slicesOf(spans[i]!.first));
      parts.push({ column, places, slices, limits });
    }
    return parts;
  }

  /** Estimates the remote bytes of datapoints. */
  remoteBytes(datapoints: number, mask: Mask | undefined): number {
    const selection = this.#newSelection(mask);
    let bytes = 0;
    for (const [i, { bag: { data } }] of this.#columns.entries()) {
      if (selection.wanted[i] === 0 || data.prefetch === undefined) continue;
      bytes += data.size;
    }
    return this.length === 0 ? 0 : bytes / this.length * datapoints;
  }

  *available(index: number): Steps<Record<string, true | number>> {
    const spans = yield* this.#spansOf([index], this.#all, true);
    const available: Record<string, true | number> = {};
    this.shard.keys.forEach(({ key, type }, i) => {
      setOwn(available, key, type.isList ? spans[i]!.count[0]! : true);
    });
    return available;
  }

  /**
   * Returns the records of datapoints, for each key. With `isRun`, these are consecutive: references are read at once.
   */
  *#spansOf(
    indices: readonly number[],
    selection: Selection,
    isRun: boolean,
  ): Steps<Spans[]> {
    const { refs } = this.shard;
    const spans = this.#columns.map((): Spans => ({
      first: Float64Array.from(indices),
      count: new Float64Array(indices.length).fill(1),
    }));
    if (refs === undefined || indices.length === 0) return spans;
    const records = isRun
      ? yield* refs.readRun(indices[0]!, indices.length)
      : yield* refs.readBatch(indices);
    const references = this.#references!; // no await while this shared object is in use
    for (const [i, index] of indices.entries()) {
      references.parse(index, records[i]!);
      for (const [k, { first, count }] of spans.entries()) {
        const span = this.#columns[k]!.type.isList
          ? references.part(k, selection)
          : { first: references.first[k]!, count: 1 };
        const isNone = span.count === 0 && i > 0;
        first[i] = isNone ? first[i - 1]! + count[i - 1]! : span.first;
        count[i] = span.count;
      }
    }
    return spans;
  }

  #newSelection(mask: Mask | undefined): Selection {
    const { path, keys } = this.shard;
    return new Selection({ path, keys, places: this.#places }).set(mask);
  }
}

/** @param areList Whether to store all records read, rather than the only one. */
function* put(
  into: Record<string, unknown>,
  key: string,
  reading: Steps<unknown[]>,
  areList: boolean,
): Steps<void> {
  const read = yield* reading;
  setOwn(into, key, areList ? read : read[0]);
}
