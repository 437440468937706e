import {
  inBatches,
  isIndex,
  requireIndices,
} from "../../../tree/sample_indices.ts";
import {
  runAsync,
  runSync,
  type Steps,
} from "../../../io/concurrency/steps.ts";
import type {
  BatchReadOptions,
  BatchReadSyncOptions,
} from "../../../io/read/read_memory.ts";
import type { WaitOptions } from "../../../io/storage/byte_source.ts";
import { lastingAt } from "../../../io/storage/place.ts";
import { LOCAL_DISK, type Storage } from "../../../io/storage/storage.ts";
import type { ContainerOptions } from "../../../tree/format.ts";
import { findShards } from "./find_shards.ts";
import {
  type MDSBytes,
  type MDSSample,
  StoredSamples,
} from "./stored_samples.ts";
import { openShards, type ShardsHandle, ShardStore } from "./shard_store.ts";

/** How a {@linkcode MDSReader} opens a dataset. */
export type MDSOptions = Pick<ContainerOptions, "remote" | "storage">;

/** What another thread needs to open the dataset of a reader: it survives `postMessage`. */
export interface MDSReaderHandle {
  /** The shards. */
  readonly shards: unknown;
}

/** How samples are read. */
export interface MDSReadOptions extends BatchReadOptions {
  /** The columns that are wanted; all, unless given. */
  readonly columns?: readonly string[] | undefined;
}

/** {@linkcode MDSReadOptions} where nothing is waited for. */
export interface MDSReadSyncOptions extends BatchReadSyncOptions {
  /** The columns that are wanted; all, unless given. */
  readonly columns?: readonly string[] | undefined;
}

/** A column of samples. */
export interface MDSColumn {
  /** What samples call it. */
  readonly name: string;
  /** How its values are written, such as `jpeg`, `int` or `ndarray:float32:2,3`. */
  readonly encoding: string;
}

/**
 * Reads a dataset of MosaicML Streaming: a directory of shards with an `index.json`, or one shard alone. Any sample is
 * read without those before it; shards that are compressed are decompressed, and kept for a while.
 *
 * @example Read samples
 * ```ts
 * import { MDSReader } from "@recordfs/recordfs/mds";
 * import assert from "node:assert/strict";
 *
 * using reader = await MDSReader.open("test/golden/mds/plain/data");
 * const sample = await reader.sample(2);
 * assert.equal(sample["label"], 2);
 *
 * for await (const samples of reader.batches({ batch: 4 })) console.log(samples.length);
 * ```
 */
export class MDSReader implements Disposable {
  readonly #store: ShardStore;
  readonly #samples: StoredSamples;

  /** @ignore Readers are made by `open`. */
  constructor(store: ShardStore) {
    this.#store = store;
    this.#samples = new StoredSamples(store);
  }

  /**
   * Opens a dataset.
   *
   * @param location Its directory, its `index.json`, or one of its shards.
   * @throws {FormatError} If the index is damaged, a shard is missing, or what is in it is not supported.
   */
  static async open(
    location: string | URL,
    options: MDSOptions & WaitOptions = {},
  ): Promise<MDSReader> {
    return await runAsync(openReader(location, options), options.signal);
  }

  /** {@linkcode MDSReader.open} without waiting. */
  static openSync(
    location: string | URL,
    options: MDSOptions = {},
  ): MDSReader {
    return runSync(openReader(location, options));
  }

  /**
   * Opens the dataset of a reader in another thread; a shard when it is first needed.
   *
   * @param handle What {@linkcode MDSReader.share} gave.
   */
  static openShared(
    { shards }: MDSReaderHandle,
    { storage = LOCAL_DISK }: Pick<MDSOptions, "storage"> = {},
  ): MDSReader {
    return new MDSReader(new ShardStore(shards as ShardsHandle, storage));
  }

  /** Describes the reader for {@linkcode MDSReader.openShared}. */
  share(): MDSReaderHandle {
    return { shards: this.#store.share() };
  }

  /** Number of samples. */
  get length(): number {
    return this.#store.length;
  }

  /** The index, or the shard that is read alone. */
  get path(): string {
    return this.#store.path;
  }

  /** Where the dataset lies. */
  get storage(): Storage {
    return this.#store.storage;
  }

  /** Paths of the shards, in their order. */
  get paths(): readonly string[] {
    return this.#store.shards.map(({ path }) => path);
  }

  /**
   * The columns of a sample.
   *
   * @param index Of the sample; of all datasets but merged ones, all have the same.
   * @throws {IndexError} If there is no such sample.
   */
  columns(index = 0): MDSColumn[] {
    if (this.length === 0 && index === 0) return [];
    this.#required(index);
    return this.#store.columnsOf(this.#store.shardOf(index))
      .map(({ name, encoding }) => ({ name, encoding: encoding.word }));
  }

  /**
   * Reads the values of a sample as they are stored, or of a batch of samples: in the order in which they lie, neighbours
   * in one go.
   *
   * @param index From 0 to `length - 1`, or any number of such, in any order, repeats allowed.
   * @throws {IndexError} If there is no such sample.
   * @throws {FormatError} If a shard is damaged.
   */
  read(index: number, options?: MDSReadOptions): Promise<MDSBytes>;
  /** Reads a batch of samples. */
  read(
    indices: Iterable<number>,
    options?: MDSReadOptions,
  ): Promise<MDSBytes[]>;
  async read(
    index: number | Iterable<number>,
    { memory, signal, columns }: MDSReadOptions = {},
  ): Promise<MDSBytes | MDSBytes[]> {
    const reading = this.#samples.read(this.#required(index), columns, memory);
    const read = await runAsync(reading, signal);
    return typeof index === "number" ? read[0]! : read;
  }

  /** {@linkcode MDSReader.read} without waiting. */
  readSync(index: number, options?: MDSReadSyncOptions): MDSBytes;
  /** Reads a batch of samples without waiting. */
  readSync(
    indices: Iterable<number>,
    options?: MDSReadSyncOptions,
  ): MDSBytes[];
  readSync(
    index: number | Iterable<number>,
    { memory, columns }: MDSReadSyncOptions = {},
  ): MDSBytes | MDSBytes[] {
    const read = runSync(
      this.#samples.read(this.#required(index), columns, memory),
    );
    return typeof index === "number" ? read[0]! : read;
  }

  /**
   * Reads a sample and decodes its values.
   *
   * @throws {IndexError} If there is no such sample.
   * @throws {FormatError} If a shard is damaged, or a value can't be decoded (`bad-value`); a pickle of anything but plain
   * data is one.
   */
  async sample(
    index: number,
    options?: MDSReadOptions,
  ): Promise<MDSSample> {
    const [sample] = await this.samples([index], options);
    return sample!;
  }

  /** Reads a batch of samples and decodes their values. */
  async samples(
    indices: Iterable<number>,
    options?: MDSReadOptions,
  ): Promise<MDSSample[]> {
    const numbers = [...indices];
    const read = await this.read(numbers, options);
    const decoded: MDSSample[] = [];
    for (const [i, values] of read.entries()) {
      options?.signal?.throwIfAborted();
      decoded.push(await this.#samples.decode(numbers[i]!, values));
    }
    return decoded;
  }

  /**
   * All samples in their order, decoded, in batches.
   *
   * @param options How many are read in one go; 256 unless given.
   */
  batches(
    options: WaitOptions & { readonly batch?: number } = {},
  ): AsyncGenerator<MDSSample[], void, undefined> {
    return inBatches(
      this.length,
      options,
      (indices, options) => this.samples(indices, options),
    );
  }

  /**
   * Says that samples will be read soon: where the shards lie on a server, they are fetched meanwhile.
   *
   * @returns How many bytes are fetched, or have been; 0 where the shards are local.
   */
  expect(indices: Iterable<number>): number {
    const known = [...indices].filter((index) => isIndex(index, this.length));
    return this.#samples.expect(known);
  }

  /**
   * The shard that a sample lies in.
   *
   * @throws {IndexError} If there is no such sample.
   */
  fileOf(index: number): string {
    this.#required(index);
    return this.#store.shards[this.#store.shardOf(index)]!.path;
  }

  /** Closes the shards. What was read stays valid. */
  close(): void {
    this.#store.close();
  }

  /** Closes the shards at the end of a `using` block. */
  [Symbol.dispose](): void {
    this.close();
  }

  #required(index: number | Iterable<number>): readonly number[] {
    const path = () => this.path;
    return requireIndices(index, this.length, path);
  }
}

function* openReader(
  location: string | URL,
  options: MDSOptions,
): Steps<MDSReader> {
  const { path, storage } = lastingAt(location, options);
  const found = yield* findShards(path, storage);
  return new MDSReader(yield* openShards(found, storage));
}
