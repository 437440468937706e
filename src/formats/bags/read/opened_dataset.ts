import { inParallel } from "../../../io/concurrency/in_parallel.ts";
import type { ReadMemory } from "../../../io/read/read_memory.ts";
import { runSync, type Steps } from "../../../io/concurrency/steps.ts";
import type { BatchPlan } from "./batch_plan.ts";
import { DatasetPlan } from "./dataset_plan.ts";
import { Column } from "./column.ts";
import { type Datapoint, setValue } from "./datapoint.ts";
import { type Datapoints, MAPPED } from "./datapoints.ts";
import { DatapointReferences } from "./datapoint_references.ts";
import type { DatasetOptions } from "./dataset_options.ts";
import {
  closeDatasetRecords,
  type DatasetRecords,
  openDatasetRecords,
} from "./dataset_records.ts";
import type { Generation } from "../dataset/generation.ts";
import { clippedCount } from "./list_range.ts";
import type { References } from "../dataset/references.ts";
import { type Mask, Selection } from "./selection.ts";
import { readSpans, type Spans } from "./spans.ts";
import { type Spec, specOf } from "../dataset/spec.ts";
import { decodersOf } from "../types/shipped.ts";

/** A record. */
type Raw = Uint8Array<ArrayBuffer>;

/** An opened dataset. */
export class OpenedDataset implements Datapoints {
  readonly spec: Spec;
  readonly keys: readonly string[];
  readonly #records: DatasetRecords;
  /** One a key, but none where bags are missing, since there is no datapoint. */
  readonly #columns: readonly Column[];
  /** Those whose values are not bytes. */
  readonly #decoding: readonly Column[];
  /** None in generation 3, where record i of every key belongs to datapoint i. */
  readonly #references: DatapointReferences | undefined;
  readonly #parallel: boolean;
  readonly #places: ReadonlyMap<string, number>;
  readonly #all: Selection;
  /** Of the reads that do not wait, one after the other. */
  readonly #selection: Selection;

  private constructor(records: DatasetRecords, options: DatasetOptions) {
    const { keys, bags, refs } = records;
    const { decoders = decodersOf(records.generation), parallel = false } =
      options;
    this.spec = specOf(keys);
    this.keys = keys.map(({ key }) => key);
    this.#records = records;
    this.#columns = bags.map((bag, i) => new Column(keys[i]!, bag, decoders));
    this.#decoding = this.#columns.filter(({ decodes }) => decodes);
    const lengths = bags.map(({ length }) => length);
    this.#references = refs && new DatapointReferences(refs, keys, lengths);
    this.#parallel = parallel;
    this.#places = new Map(this.keys.map((key, i) => [key, i]));
    this.#all = this.#newSelection().set(undefined);
    this.#selection = this.#newSelection();
  }

  /**
   * Opens a dataset.
   *
   * @throws {FormatError} If a file is missing or damaged.
   */
  static *open(
    directory: string,
    options: DatasetOptions,
  ): Steps<OpenedDataset> {
    const { cacheIndex = true, cacheKeys = [] } = options;
    const records = yield* openDatasetRecords(directory, {
      ...options,
      cacheIndex,
      cacheKeys,
    });
    return new OpenedDataset(records, options);
  }

  get path(): string {
    return this.#records.path;
  }

  get generation(): Generation {
    return this.#records.generation;
  }

  get length(): number {
    return this.#records.length;
  }

  get size(): number {
    const { bags, refs } = this.#records;
    return bags.reduce((sum, { size }) => sum + size, refs?.size ?? 0);
  }

  close(): void {
    closeDatasetRecords(this.#records);
  }

  getSync(
    index: number,
    mask: Mask | undefined,
    memory: ReadMemory | typeof MAPPED | undefined,
  ): Datapoint {
    const selection = mask === undefined
      ? this.#all
      : this.#selection.set(mask);
    const references = this.#references?.readSync(index);
    const datapoint: Datapoint = {};
    for (let i = 0; i < this.#columns.length; i++) {
      if (selection.wanted[i] === 0) continue;
      const { key, type, records } = this.#columns[i]!;
      if (type.isList) {
        const { first, count } = listOf(references!, selection, i);
        const list = memory === MAPPED
          ? Array.from({ length: count }, (_, k) => records.view(first + k))
          : runSync(records.readRun(first, count, memory));
        setValue(datapoint, key, list);
      } else { // what most values are: no generator for them
        const record = references === undefined ? index : references.first[i]!;
        const bytes = memory === MAPPED
          ? records.view(record)
          : records.readSync(record, memory);
        setValue(datapoint, key, bytes);
      }
    }
    // Not before: a decoder may read, and what is used again would change.
    for (const column of this.#decoding) {
      if (!Object.hasOwn(datapoint, column.key)) continue;
      const bytes = datapoint[column.key] as Raw | Raw[];
      const value = Array.isArray(bytes)
        ? bytes.map((one) => column.decodeSync(one, index))
        : column.decodeSync(bytes, index);
      setValue(datapoint, column.key, value);
    }
    return datapoint;
  }

  *get(
    index: number,
    mask: Mask | undefined,
    memory: ReadMemory | undefined,
  ): Steps<Datapoint> {
    const selection = this.#newSelection().set(mask);
    const references = this.#references &&
      (yield* this.#references.read(index));
    const datapoint: Datapoint = {};
    const reading: Steps<void>[] = [];
    this.#columns.forEach((column, i) => {
      if (selection.wanted[i] === 0) return;
      setValue(datapoint, column.key, undefined); // keeps the order of the keys
      const { first, count } = column.type.isList
        ? listOf(references!, selection, i)
        : { first: references?.first[i] ?? index, count: 1 };
      const value = readValue(column, index, first, count, memory);
      reading.push(put(datapoint, column.key, value));
    });
    yield* this.#readAll(reading);
    return datapoint;
  }

  *range(
    start: number,
    count: number,
    mask: Mask | undefined,
    memory: ReadMemory | undefined,
  ): Steps<Record<string, unknown[]>> {
    const selection = this.#newSelection().set(mask);
    const spans = count > 0 ? yield* this.#spans(start, count, selection) : [];
    const values: Record<string, unknown[]> = {};
    const reading: Steps<void>[] = [];
    this.#records.keys.forEach(({ key }, i) => {
      if (selection.wanted[i] === 0) return;
      setValue(values, key, []);
      if (count === 0) return;
      const read = readValues(this.#columns[i]!, start, spans[i]!, memory);
      reading.push(put(values, key, read));
    });
    yield* this.#readAll(reading);
    return values;
  }

  *planBatch(
    indices: readonly number[],
    mask: Mask | undefined,
  ): Steps<BatchPlan> {
    const selection = this.#newSelection().set(mask);
    const spans = yield* this.#spansOf(indices, selection);
    const isWanted = (_: unknown, i: number) => selection.wanted[i] === 1;
    return yield* DatasetPlan.of(
      indices,
      this.#columns.filter(isWanted),
      spans.filter(isWanted),
    );
  }

  *available(index: number): Steps<Record<string, true | number>> {
    const references = this.#references &&
      (yield* this.#references.read(index));
    const available: Record<string, true | number> = {};
    this.#records.keys.forEach(({ key, type }, i) => {
      setValue(available, key, type.isList ? references!.count[i]! : true);
    });
    return available;
  }

  /** Which records belong to datapoints, for each key. */
  *#spans(
    start: number,
    count: number,
    selection: Selection,
  ): Steps<Spans[]> {
    const spans = this.#newSpans(count);
    if (this.#references === undefined) {
      for (const { first } of spans) {
        for (let i = 0; i < count; i++) first[i] = start + i;
      }
      return spans;
    }
    yield* this.#references.readRun(
      start,
      count,
      (references, i) => this.#putSpans(spans, references, selection, i),
    );
    return spans;
  }

  /** Which records belong to datapoints in any order, for each key. */
  *#spansOf(
    indices: readonly number[],
    selection: Selection,
  ): Steps<Spans[]> {
    const spans = this.#newSpans(indices.length);
    if (this.#references === undefined) {
      for (const { first } of spans) first.set(indices);
      return spans;
    }
    yield* this.#references.readBatch(
      indices,
      (references, i) => this.#putSpans(spans, references, selection, i),
    );
    return spans;
  }

  #newSpans(count: number): Spans[] {
    return this.#columns.map((): Spans => ({
      first: new Float64Array(count),
      count: new Float64Array(count).fill(1),
    }));
  }

  /** Sets the spans of one datapoint to what its references say. */
  #putSpans(
    spans: readonly Spans[],
    references: References,
    selection: Selection,
    datapoint: number,
  ): void {
    spans.forEach((span, i) => {
      const { first, count } = this.#records.keys[i]!.type.isList
        ? listOf(references, selection, i)
        : { first: references.first[i]!, count: 1 };
      const isNone = count === 0 && datapoint > 0;
      span.first[datapoint] = isNone ? endOf(span, datapoint - 1) : first;
      span.count[datapoint] = count;
    });
  }

  #newSelection(): Selection {
    const { path, keys } = this.#records;
    return new Selection({ path, keys, places: this.#places });
  }

  *#readAll(reading: readonly Steps<void>[]): Steps<void> {
    if (this.#parallel) yield* inParallel(reading);
    else for (const steps of reading) yield* steps;
  }
}

/** The records of a list, or of the part of it that is asked for. */
function listOf(
  references: References,
  selection: Selection,
  key: number,
): { readonly first: number; readonly count: number } {
  const start = selection.start[key]!;
  const count = clippedCount(
    start,
    selection.stop[key]!,
    references.count[key]!,
  );
  return { first: references.first[key]! + (count > 0 ? start : 0), count };
}

function endOf(spans: Spans, i: number): number {
  return spans.first[i]! + spans.count[i]!;
}

function* put<T>(
  into: Record<string, T>,
  key: string,
  value: Steps<T>,
): Steps<void> {
  setValue(into, key, yield* value);
}

/** Reads the value of a datapoint: the list of them, for a list type. */
function* readValue(
  column: Column,
  datapoint: number,
  first: number,
  count: number,
  memory: ReadMemory | undefined,
): Steps<unknown> {
  const records = yield* column.records.readRun(first, count, memory);
  return column.type.isList
    ? yield* column.decodeAll(records, datapoint)
    : yield* column.decode(records[0]!, datapoint);
}

/** Reads the values of consecutive datapoints. */
function* readValues(
  column: Column,
  start: number,
  spans: Spans,
  memory: ReadMemory | undefined,
): Steps<unknown[]> {
  const values: unknown[] = [];
  const records = yield* readSpans(column.records, spans, memory);
  for (let i = 0; i < records.length; i++) {
    values.push(
      column.type.isList
        ? yield* column.decodeAll(records[i]!, start + i)
        : yield* column.decode(records[i]![0]!, start + i),
    );
  }
  return values;
}
