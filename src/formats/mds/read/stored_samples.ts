import { RecordfsError } from "../../../base/errors.ts";
import type { Steps } from "../../../io/concurrency/steps.ts";
import type { BatchRoom } from "../../../io/read/read_memory.ts";
import { readContents } from "../../../tree/read_contents.ts";
import { decodeValue, type MDSValue } from "../encodings/decode.ts";
import { badValue } from "../encodings/value_fault.ts";
import type { Column } from "./index_file.ts";
import {
  badSizes,
  headSize,
  SampleTables,
  startIn,
  valueStarts,
} from "./sample_tables.ts";
import type { ShardStore } from "./shard_store.ts";

/** Values by the names of their columns, as they are stored. */
export type MDSBytes = Readonly<Record<string, Uint8Array<ArrayBuffer>>>;

/** Values by the names of their columns, decoded. */
export type MDSSample = Readonly<Record<string, MDSValue>>;

/** Where a sample is in its shard. */
interface Place {
  readonly shard: number;
  readonly number: number;
  readonly offset: number;
  readonly length: number;
}

/** The samples of shards: read in batches, each as one piece, and taken apart. */
export class StoredSamples {
  readonly #store: ShardStore;
  readonly #tables: SampleTables;

  constructor(store: ShardStore) {
    this.#store = store;
    this.#tables = new SampleTables(store);
  }

  /**
   * Says that samples will be read soon.
   *
   * @returns How many bytes are fetched, or have been.
   */
  expect(indices: readonly number[]): number {
    let bytes = 0;
    try {
      for (const index of indices) {
        const shard = this.#store.shardOf(index);
        const table = this.#tables.known(shard);
        if (table === undefined) {
          if (!this.#tables.expect(shard)) break;
          continue;
        }
        const { offset, length } = this.#place(index, table);
        const source = this.#store.opened(shard);
        if (source?.expect?.(offset, length) !== true) break;
        bytes += length;
      }
    } catch (error) {
      if (!(error instanceof RecordfsError)) throw error; // who reads it is told
    }
    return bytes;
  }

  #columns(shard: number): readonly Column[] {
    return this.#store.columnsOf(shard);
  }

  #place(index: number, table: Uint32Array): Place {
    const shard = this.#store.shardOf(index);
    const number = index - this.#store.firsts[shard]!;
    const offset = startIn(table, number);
    const length = startIn(table, number + 1) - offset;
    return { shard, number, offset, length };
  }

  /** Reads the values of samples. */
  *read(
    indices: readonly number[],
    columns: readonly string[] | undefined,
    memory: BatchRoom | undefined,
  ): Steps<MDSBytes[]> {
    const wanted = columns && new Set(columns);
    const store = this.#store;
    const places = yield* this.#places(indices);
    const samples = yield* readContents({
      sources: store,
      length: places.length,
      locate(i, into) {
        const { shard, offset, length } = places[i]!;
        into.source = shard;
        into.offset = offset;
        into.length = length;
        into.crc32 = -1;
        into.bytes = undefined;
      },
    }, memory);
    return samples.map((bytes, i) =>
      this.#split(bytes, places[i]!, indices[i]!, wanted)
    );
  }

  /** Where samples are; shard by shard, so that each one's table is needed once. */
  *#places(indices: readonly number[]): Steps<Place[]> {
    const byShard = new Map<number, number[]>();
    for (const [i, index] of indices.entries()) {
      const shard = this.#store.shardOf(index);
      const positions = byShard.get(shard);
      if (positions === undefined) byShard.set(shard, [i]);
      else positions.push(i);
    }
    for (const shard of byShard.keys()) {
      if (this.#tables.known(shard) === undefined) {
        yield* this.#store.content(shard);
        this.#tables.expect(shard); // where they have to be fetched, all at once
      }
    }
    const places = new Array<Place>(indices.length);
    for (const [shard, positions] of byShard) {
      yield* this.#store.content(shard);
      const table = yield* this.#tables.table(shard);
      for (const i of positions) places[i] = this.#place(indices[i]!, table);
    }
    return places;
  }

  #split(
    bytes: Uint8Array<ArrayBuffer>,
    { shard, number }: Place,
    index: number,
    wanted: ReadonlySet<string> | undefined,
  ): MDSBytes {
    const columns = this.#columns(shard);
    const { path } = this.#store.shards[shard]!;
    const head = headSize(columns);
    if (head > bytes.length) throw badSizes(path, index, number);
    const view = new DataView(bytes.buffer, bytes.byteOffset, head);
    const starts = valueStarts(columns, view, bytes.length);
    if (starts === undefined) throw badSizes(path, index, number);
    // Names are any words, also those of Object's own.
    const values: Record<string, Uint8Array<ArrayBuffer>> = Object.create(null);
    for (const name of wanted ?? []) {
      if (!columns.some((column) => column.name === name)) {
        throw this.#noColumn(name, index, columns);
      }
    }
    for (const [column, { name }] of columns.entries()) {
      if (wanted?.has(name) === false) continue;
      values[name] = bytes.subarray(starts[column], starts[column + 1]);
    }
    return values;
  }

  /** Decodes the values of a sample. */
  async decode(index: number, values: MDSBytes): Promise<MDSSample> {
    const shard = this.#store.shardOf(index);
    const { path } = this.#store.shards[shard]!;
    const sample: Record<string, MDSValue> = Object.create(null);
    for (const { name, encoding } of this.#columns(shard)) {
      if (!(name in values)) continue; // it was not wanted
      try {
        sample[name] = await decodeValue(encoding, values[name]!);
      } catch (cause) {
        throw badValue({ path, sample: index, column: name }, cause);
      }
    }
    return sample;
  }

  #noColumn(
    name: string,
    sample: number,
    columns: readonly Column[],
  ): RecordfsError {
    const known = columns.map(({ name }) => name).join(", ");
    return new RecordfsError(
      "no-column",
      `Sample ${sample} of ${this.#store.path} has no column '${name}'; it has ${known}`,
      { path: this.#store.path, sample, actual: name },
    );
  }
}
