import { IndexError } from "../../../base/errors.ts";
import { inParallel } from "../../../io/concurrency/concurrency_limit.ts";
import { runAsync, type Steps } from "../../../io/concurrency/steps.ts";
import type { BatchRoom, GrowingMemory } from "../../../io/read/read_memory.ts";
import { changedFile } from "../../../io/storage/changed_file.ts";
import { requireOpen } from "../../../io/storage/closed.ts";
import { LOCAL_DISK, type Storage } from "../../../io/storage/storage.ts";
import { setOwn } from "../../../codecs/set_own.ts";
import { isIndex } from "../../../tree/sample_indices.ts";
import { openSound } from "../../../tree/samples/open_shards.ts";
import { FieldUnion } from "../../../tree/samples/field_union.ts";
import type {
  Field,
  PortableSamples,
  ReadSamplesOptions,
  Samples,
  SamplesHandle,
} from "../../../tree/samples/samples.ts";
import { ShardTable } from "../../../tree/samples/shard_table.ts";
import { fieldsOf, sharedFields } from "../dataset/fields.ts";
import { portableDecoders } from "../types/shipped.ts";
import { type BatchPart, prefetchBatch, readBatch } from "./batch.ts";
import type { DatasetOptions } from "./dataset_options.ts";
import { clippedCount, type Datapoint, type Mask } from "./selection.ts";
import { whenMade } from "./made_values.ts";
import { MAPPED, ShardReader } from "./shard_reader.ts";

export interface NumberedShard {
  readonly path: string;
  readonly length: number;
}

interface SamplesOptions extends DatasetOptions {
  /** Parts of each datapoint to read, unless a call selects others. */
  readonly mask?: Mask | undefined;
}

/** Data that other threads need to reopen the samples. */
interface Seed extends SamplesOptions {
  readonly path: string;
  readonly shards: readonly NumberedShard[];
  /** Whether the dataset has several shards, some of which may be skipped. */
  readonly ofSeveral: boolean;
}

interface OpenedDatapoints {
  readonly path: string;
  readonly shards: ShardTable<NumberedShard>;
  /** Fields of all shards; `undefined` if the types of shards differ. */
  readonly fields: readonly Field[] | undefined;
  readonly ofSeveral: boolean;
  /** Readers of open shards by shard number. Filled as shards are opened. */
  readonly readers: (ShardReader | undefined)[];
  /** Opens another shard on first use. */
  open?(at: number): Steps<ShardReader>;
}

/** Datapoints of a dataset, sharded or not, with at least one shard. */
export class BagsSamples implements Samples<Datapoint, Datapoint> {
  readonly unit = "datapoint";
  readonly fields: readonly Field[] | undefined;
  readonly stores = "fields";
  readonly path: string;
  readonly shards: ShardTable<NumberedShard>;
  readonly #opened: OpenedDatapoints;
  readonly #options: SamplesOptions;
  readonly #readers: (ShardReader | undefined)[];
  #isClosed = false;

  constructor(opened: OpenedDatapoints, options: SamplesOptions) {
    this.path = opened.path;
    this.shards = opened.shards;
    this.fields = opened.fields;
    this.#opened = opened;
    this.#options = options;
    this.#readers = opened.readers;
    for (const [at, reader] of this.#readers.entries()) {
      if (reader !== undefined) reader.start = this.shards.firsts[at]!;
    }
  }

  get storage(): Storage {
    return this.#options.storage ?? LOCAL_DISK;
  }

  /** Returns the readers of all shards; opens those that are not open. */
  *all(): Steps<ShardReader[]> {
    const readers: ShardReader[] = [];
    for (const at of this.shards.shards.keys()) {
      readers.push(yield* this.reader(at));
    }
    return readers;
  }

  /** Returns the same datapoints, restricted to a mask. Closing either closes the files of both. */
  masked(mask: Mask | undefined): BagsSamples {
    return new BagsSamples(this.#opened, { ...this.#options, mask });
  }

  *read(
    indices: readonly number[],
    { fields, memory }: ReadSamplesOptions,
  ): Steps<Datapoint[]> {
    const mask = fields ?? this.#options.mask;
    return yield* this.readMasked(indices, mask, memory);
  }

  decode(index: number, datapoint: Datapoint): Datapoint | Promise<Datapoint> {
    return this.#decode(index, datapoint, true);
  }

  *portable(): Steps<PortableSamples<Datapoint>> {
    const readers = yield* this.all();
    const union = new FieldUnion(this.path);
    const decoding = readers.map(({ shard, length }) => {
      union.add(fieldsOf(shard), length);
      const decoders = portableDecoders(shard.generation);
      return new ShardReader(shard, { decoders });
    });
    return {
      fields: union.fields,
      missing: union.missing(this.shards.length),
      isNullable: false,
      // If shards differ, a sample may lack some of the requested fields.
      read: (indices, options) =>
        this.read(indices, this.fields === undefined ? {} : options),
      decode: (index, datapoint) => {
        const at = this.shards.shardOf(index);
        const number = index - this.shards.firsts[at]!;
        return decoding[at]!.decode(number, datapoint, true);
      },
    };
  }

  valueIn(datapoint: Datapoint, key: string): unknown {
    const value = Object.hasOwn(datapoint, key) ? datapoint[key] : undefined;
    return Array.isArray(value) ? undefined : value;
  }

  prefetch(indices: readonly number[], { fields }: ReadSamplesOptions): number {
    return this.prefetchMasked(indices, fields ?? this.#options.mask);
  }

  share(): SamplesHandle {
    const { path, ofSeveral } = this.#opened;
    const { generation, cacheIndex, cacheData, cacheKeys } = this.#options;
    const { parallel, decoders, mask } = this.#options;
    const shards = this.shards.shards.map(
      ({ path, length }): NumberedShard => ({ path, length }),
    );
    const data: Seed = {
      ...{ path, shards, ofSeveral, mask },
      ...{ generation, cacheIndex, cacheData, cacheKeys, parallel, decoders },
    };
    return { module: import.meta.url, data };
  }

  close(): void {
    this.#isClosed = true;
    for (const reader of this.#readers) reader?.close();
  }

  /** @throws {IndexError} If there is no such datapoint. */
  require(index: number): void {
    requireOpen(this.path, this.#isClosed);
    const { length } = this.shards;
    if (isIndex(index, length)) return;
    throw new IndexError(index, length, this.path, 0, this.unit);
  }

  /** Reads and decodes a datapoint synchronously. All shards must be open. */
  getSync(
    index: number,
    mask: Mask | undefined,
    memory: GrowingMemory | typeof MAPPED | undefined,
  ): Datapoint {
    this.require(index);
    if (memory !== MAPPED) memory?.take(0);
    const reader = this.#readers[this.shards.shardOf(index)]!;
    const number = index - reader.start;
    const datapoint = reader.getSync(number, mask, memory);
    return reader.decode(number, datapoint, false) as Datapoint;
  }

  *get(
    index: number,
    mask: Mask | undefined,
    memory: GrowingMemory | undefined,
  ): Steps<Datapoint> {
    this.require(index);
    memory?.take(0);
    const reader = yield* this.reader(this.shards.shardOf(index));
    return yield* reader.get(index - reader.start, mask, memory);
  }

  /** Reads datapoints as bytes, in any order, repeats allowed: all keys of all shards in one batch. */
  *readMasked(
    indices: readonly number[],
    mask: Mask | undefined,
    memory: BatchRoom | undefined,
  ): Steps<Datapoint[]> {
    requireOpen(this.path, this.#isClosed);
    for (const index of indices) this.require(index);
    const parts = yield* this.#partsOf(indices, mask);
    return yield* readBatch(indices.length, parts, memory);
  }

  /** Reads datapoints like {@linkcode BagsSamples.readMasked}, and decodes them. */
  *readDecoded(
    indices: readonly number[],
    mask: Mask | undefined,
    memory: BatchRoom | undefined,
  ): Steps<Datapoint[]> {
    const read = yield* this.readMasked(indices, mask, memory);
    return yield* whenMade(
      read,
      (mayWait) => (datapoint: Datapoint, i) =>
        this.#decode(indices[i]!, datapoint, mayWait),
    );
  }

  /** Reads consecutive datapoints, merging adjacent records of a key into one read. */
  *range(
    start: number,
    stop: number,
    mask: Mask | undefined,
    memory: GrowingMemory | undefined,
    decodes: boolean,
  ): Steps<Record<string, unknown[]>> {
    requireOpen(this.path, this.#isClosed);
    const { firsts, length, shards } = this.shards;
    const end = start + clippedCount(start, stop, length);
    memory?.take(0);
    if (end === start) {
      return yield* (yield* this.reader(0)).range(0, 0, mask, memory);
    }
    const values: Record<string, unknown[]> = {};
    for (let at = this.shards.shardOf(start); at < shards.length; at++) {
      const first = Math.max(start, firsts[at]!);
      const count = Math.min(end, firsts[at + 1]!) - first;
      if (count <= 0) continue;
      const reader = yield* this.reader(at);
      const number = first - reader.start;
      const part = yield* reader.range(number, count, mask, memory);
      if (decodes) yield* reader.decodeRange(number, part);
      for (const key of Object.keys(part)) {
        if (!Object.hasOwn(values, key)) setOwn(values, key, part[key]!);
        else for (const value of part[key]!) values[key]!.push(value);
      }
    }
    return values;
  }

  /** Returns the number of values of each key in a datapoint; `true` for a key that is not a list. */
  *available(index: number): Steps<Record<string, true | number>> {
    this.require(index);
    const reader = yield* this.reader(this.shards.shardOf(index));
    return yield* reader.available(index - reader.start);
  }

  /** Like {@linkcode Samples.prefetch}, for the parts that a mask selects. */
  prefetchMasked(indices: readonly number[], mask: Mask | undefined): number {
    if (this.#isClosed) return 0;
    let bytes = 0;
    for (const [at, places] of this.#byShard(indices)) {
      bytes += this.#readers[at]?.remoteBytes(places.length, mask) ?? 0;
    }
    if (bytes > 0) {
      // References, and an index that is not held, must be fetched first.
      runAsync(this.#partsOf(indices, mask)).then(prefetchBatch, () => {});
    }
    return bytes;
  }

  *reader(at: number): Steps<ShardReader> {
    const known = this.#readers[at];
    if (known !== undefined) return known;
    const reader = yield* this.#opened.open!(at);
    reader.start = this.shards.firsts[at]!;
    return this.#readers[at] = reader;
  }

  #decode(index: number, datapoint: Datapoint, mayWait: boolean) {
    const reader = this.#readers[this.shards.shardOf(index)]!; // open, since it has read the datapoint
    return reader.decode(index - reader.start, datapoint, mayWait);
  }

  *#partsOf(
    indices: readonly number[],
    mask: Mask | undefined,
  ): Steps<BatchPart[]> {
    const byShard = this.#byShard(indices);
    if (byShard.size === 0) byShard.set(0, []); // validates the mask
    const parts: BatchPart[][] = [];
    const reader = (at: number) => this.reader(at);
    yield* inParallel(
      Array.from(byShard, function* ([at, places], i): Steps<void> {
        const shard = yield* reader(at);
        const own = places.map((place) => indices[place]! - shard.start);
        parts[i] = yield* shard.partsOf(own, places, mask);
      }),
    );
    return parts.flat();
  }

  #byShard(indices: readonly number[]): Map<number, number[]> {
    return Map.groupBy(
      indices.keys(),
      (place) => this.shards.shardOf(indices[place]!),
    );
  }
}

/** Opens shards that another thread has opened. Throws `changed` if one is now damaged, or has fewer datapoints. */
export function* reopenSamples(
  { path, shards, ofSeveral, ...shared }: Seed,
  storage: Storage,
): Steps<BagsSamples> {
  const options = { ...shared, storage, onWarning() {} }; // the opening thread has reported them
  const { sound, lost } = yield* openSound(
    shards.map(({ path }) => path),
    (path) => ShardReader.open(path, options, ofSeveral),
  );
  const isSame = lost.length === 0 &&
    sound.every(({ length }, i) => length >= shards[i]!.length);
  if (isSame) {
    const table = new ShardTable(shards, ({ length }) => length);
    const fields = sharedFields(sound.map(({ shard }) => shard));
    const opened = { path, shards: table, fields, ofSeveral, readers: sound };
    return new BagsSamples(opened, options);
  }
  for (const reader of sound) reader.close();
  throw changedFile(path);
}
