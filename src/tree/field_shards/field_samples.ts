import { RecordfsError } from "../../base/errors.ts";
import type { Steps } from "../../io/concurrency/steps.ts";
import type { BatchRoom } from "../../io/read/read_memory.ts";
import type { Storage } from "../../io/storage/storage.ts";
import { NotLoaded } from "../not_loaded.ts";
import { prefetchContents, readContents } from "../read_contents.ts";
import { FieldUnion } from "../samples/field_union.ts";
import type {
  PortableSamples,
  ReadSamplesOptions,
  Samples,
  SamplesHandle,
  SampleValues,
} from "../samples/samples.ts";
import { type Extent, placeRange } from "../tree.ts";
import { decodeValue, type FieldValue, portableValue } from "./decode.ts";
import type { Encoding } from "./encoding.ts";
import { badValue } from "./value_fault.ts";
import type { Column } from "./shard_index.ts";
import {
  badSizes,
  headSize,
  SampleTables,
  startIn,
  valueStarts,
} from "./sample_tables.ts";
import { type ShardsHandle, ShardStore } from "./shard_store.ts";

/** Stored values by column name. */
export type FieldBytes = Readonly<Record<string, Uint8Array<ArrayBuffer>>>;

/** Decoded values by column name. */
export type FieldValues = Readonly<Record<string, FieldValue>>;

/** Samples of shards: each is read as one range, and then split. */
export class FieldSamples implements Samples<FieldBytes, FieldValues> {
  readonly unit = "sample";
  readonly fields: readonly Column[] | undefined;
  readonly stores = "fields";
  readonly shards: ShardStore;
  readonly tables: SampleTables;

  constructor(shards: ShardStore) {
    this.shards = shards;
    const [columns, ...others] = shards.sets;
    this.fields = others.length === 0 ? columns : undefined;
    this.tables = new SampleTables(shards);
  }

  get storage(): Storage {
    return this.shards.storage;
  }

  *read(
    indices: readonly number[],
    { fields, memory }: ReadSamplesOptions,
  ): Steps<FieldBytes[]> {
    for (const index of indices) this.shards.requireReadable(index);
    const samples = yield* this.#readBytes(indices, memory);
    const chosen = new Map<readonly Column[], readonly number[]>();
    return samples.map((bytes, i) => {
      const columns = this.shards.columnsOf(indices[i]!);
      let numbers = chosen.get(columns);
      if (numbers === undefined) {
        numbers = this.#numbersOf(fields, columns, indices[i]!);
        chosen.set(columns, numbers);
      }
      return this.#split(bytes, indices[i]!, columns, numbers);
    });
  }

  async decode(index: number, values: FieldBytes): Promise<FieldValues> {
    return await this.#decode(index, values, decodeValue) as FieldValues;
  }

  // deno-lint-ignore require-yield -- the index says it
  *portable(): Steps<PortableSamples<FieldBytes>> {
    const { path, sets, shards, length } = this.shards;
    const union = new FieldUnion(path);
    for (const { set, samples } of shards) union.add(sets[set]!, samples);
    return {
      fields: union.fields,
      missing: union.missing(length),
      isNullable: false,
      // If shards differ, not every sample has all requested columns.
      read: (indices, options) =>
        this.read(indices, this.fields === undefined ? {} : options),
      decode: (index, values) => this.#decode(index, values, portableValue),
    };
  }

  prefetch(indices: readonly number[]): number {
    const readable = indices.filter((index) => this.shards.isReadable(index));
    return prefetchContents({
      sources: { at: (shard) => this.shards.opened(shard) },
      length: readable.length,
      locate: (i, into) => this.locate(readable[i]!, into),
    });
  }

  /**
   * Locates a sample. Throws {@linkcode NotLoaded} if the table of its shard is not loaded, and prefetches the table.
   */
  locate(sample: number, into: Extent): void {
    const shard = this.shards.shardOf(sample);
    const table = this.tables.known(shard);
    if (table === undefined) {
      this.tables.prefetch(shard);
      const load = () => this.#loadTables([sample]);
      throw new NotLoaded(this.shards.shards[shard]!.path, load);
    }
    const number = sample - this.shards.firsts[shard]!;
    const start = startIn(table, number);
    placeRange(shard, start, startIn(table, number + 1) - start, into);
  }

  share(): SamplesHandle {
    return { module: import.meta.url, data: this.shards.share() };
  }

  close(): void {
    this.shards.close();
  }

  async #decode(
    index: number,
    values: FieldBytes,
    decode: (
      encoding: Encoding,
      bytes: Uint8Array<ArrayBuffer>,
    ) => unknown,
  ): Promise<SampleValues> {
    const { path } = this.shards.of(index);
    const sample: Record<string, unknown> = Object.create(null);
    for (const { name, encoding } of this.shards.columnsOf(index)) {
      if (!(name in values)) continue; // not requested
      try {
        sample[name] = await decode(encoding, values[name]!);
      } catch (cause) {
        throw badValue({ path, sample: index, column: name }, cause);
      }
    }
    return sample;
  }

  *#readBytes(
    indices: readonly number[],
    memory: BatchRoom | undefined,
  ): Steps<Uint8Array<ArrayBuffer>[]> {
    try {
      yield* this.#loadTables(indices);
      return yield* readContents({
        sources: this.shards,
        length: indices.length,
        locate: (i, into) => this.locate(indices[i]!, into),
      }, memory);
    } catch (error) {
      const path = (error as { path?: unknown }).path;
      const sample = indices.find((index) =>
        this.shards.of(index).path === path
      );
      throw sample === undefined
        ? error
        : this.shards.asSampleError(sample, error);
    }
  }

  /** Reads the tables that are not cached; remote ones are prefetched together. */
  *#loadTables(indices: readonly number[]): Steps<void> {
    const { shards, tables } = this;
    const unknown = [...new Set(indices.map((index) => shards.shardOf(index)))]
      .filter((shard) => tables.known(shard) === undefined);
    for (const shard of unknown) {
      yield* shards.content(shard);
      tables.prefetch(shard);
    }
    for (const shard of unknown) yield* tables.table(shard);
  }

  #split(
    bytes: Uint8Array<ArrayBuffer>,
    index: number,
    columns: readonly Column[],
    chosen: readonly number[],
  ): FieldBytes {
    const head = headSize(columns);
    const starts = head > bytes.length ? undefined : valueStarts(
      columns,
      new DataView(bytes.buffer, bytes.byteOffset, head),
      bytes.length,
    );
    if (starts === undefined) {
      const { path } = this.shards.of(index);
      throw badSizes(path, index, this.shards.numberOf(index));
    }
    // Names are arbitrary, including those of Object's members.
    const values: Record<string, Uint8Array<ArrayBuffer>> = Object.create(null);
    for (const column of chosen) {
      const { name } = columns[column]!;
      values[name] = bytes.subarray(starts[column], starts[column + 1]);
    }
    return values;
  }

  /** Returns the indices of the requested columns, in column order. */
  #numbersOf(
    wanted: readonly string[] | undefined,
    columns: readonly Column[],
    sample: number,
  ): readonly number[] {
    const numbers = [...columns.keys()];
    if (wanted === undefined) return numbers;
    const known = new Set(columns.map(({ name }) => name));
    const unknown = wanted.find((name) => !known.has(name));
    if (unknown !== undefined) throw this.#noColumn(unknown, sample, columns);
    const names = new Set(wanted);
    return numbers.filter((column) => names.has(columns[column]!.name));
  }

  #noColumn(
    name: string,
    sample: number,
    columns: readonly Column[],
  ): RecordfsError {
    const path = this.shards.name;
    const known = columns.map(({ name }) => name).join(", ");
    return new RecordfsError(
      "no-column",
      `Cannot read column '${name}' of sample ${sample} of ${path}: there ` +
        `is no such column, only ${known}`,
      { path, sample, actual: name },
    );
  }
}

/** Rebuilds shared samples. Shards are opened on demand. */
// deno-lint-ignore require-yield
export function* reopenSamples(
  shards: ShardsHandle,
  storage: Storage,
): Steps<FieldSamples> {
  return new FieldSamples(new ShardStore(shards, storage));
}
