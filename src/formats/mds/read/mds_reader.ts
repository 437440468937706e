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
import { LOCAL_DISK } from "../../../io/storage/storage.ts";
import { warnOfAll } from "../../../base/message_text.ts";
import { noteLines } from "../../../tree/archive/archive_notes.ts";
import type { ContainerOptions } from "../../../tree/format.ts";
import type { SamplesHandle } from "../../../tree/samples/samples.ts";
import {
  type FieldOptions,
  SamplesReader,
} from "../../../tree/samples/samples_reader.ts";
import { findShards } from "./find_shards.ts";
import { type MDSBytes, type MDSSample, MdsSamples } from "./mds_samples.ts";
import { openShards } from "./open_shards.ts";
import { type ShardsHandle, ShardStore } from "./shard_store.ts";

/** Options for opening an {@linkcode MDSReader}. */
export type MDSOptions = Pick<
  ContainerOptions,
  "onWarning" | "remote" | "storage"
>;

/** Selects the columns to read. */
export interface MDSColumnOptions {
  /** Columns to read; defaults to all. */
  readonly columns?: readonly string[] | undefined;
}

/** Options for reading samples. */
export interface MDSReadOptions extends BatchReadOptions, MDSColumnOptions {}

/** {@linkcode MDSReadOptions} for synchronous methods. */
export interface MDSReadSyncOptions
  extends BatchReadSyncOptions, MDSColumnOptions {}

/** Column of samples. */
export interface MDSColumn {
  /** Name of the column. */
  readonly name: string;
  /** Encoding of its values, such as `jpeg`, `int` or `ndarray:float32:2,3`. */
  readonly encoding: string;
}

/**
 * Reads a MosaicML Streaming dataset: a directory of shards with an `index.json`, or one shard alone. Samples are read
 * without those before them. Compressed shards are decompressed and cached. `read` returns stored values, `batches`
 * decoded ones.
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
export class MDSReader extends SamplesReader<
  MDSBytes,
  MDSSample,
  MDSReadSyncOptions,
  MDSSample
> {
  readonly #shards: ShardStore;

  /** @ignore Readers are made by `open`. */
  constructor(samples: MdsSamples) {
    super(samples);
    this.#shards = samples.shards;
  }

  /**
   * Opens a dataset.
   *
   * @param location Its directory, its `index.json`, or one of its shards.
   * @throws {FormatError} If the index is damaged, or every shard is missing, damaged or not supported.
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
   * Opens the dataset of a reader in another thread. Shards are opened on demand.
   *
   * @param handle Result of `share`.
   */
  static openShared(
    { data }: SamplesHandle,
    { storage = LOCAL_DISK }: Pick<MDSOptions, "storage"> = {},
  ): MDSReader {
    const shards = new ShardStore(data as ShardsHandle, storage);
    return new MDSReader(new MdsSamples(shards));
  }

  /** Path of the index, or of a shard read alone. */
  get path(): string {
    return this.#shards.path;
  }

  /**
   * Returns the columns of a sample.
   *
   * @param index Index of the sample; all samples have the same columns, except in merged datasets.
   * @throws {IndexError} If there is no such sample.
   */
  columns(index = 0): MDSColumn[] {
    if (this.length === 0 && index === 0) return [];
    this.required(index);
    return this.#shards.columnsOf(index)
      .map(({ name, encoding }) => ({ name, encoding: encoding.word }));
  }

  /**
   * Reads a sample and decodes its values.
   *
   * @throws {IndexError} If there is no such sample.
   * @throws {FormatError} If a shard is damaged, or a value cannot be decoded (`bad-value`), including pickles of
   *   anything but plain data.
   */
  async sample(
    index: number,
    options?: MDSReadOptions,
  ): Promise<MDSSample> {
    const [sample] = await this.decoded([index], options);
    return sample!;
  }

  /** Reads a batch of samples and decodes their values. */
  samples(
    indices: Iterable<number>,
    options?: MDSReadOptions,
  ): Promise<MDSSample[]> {
    return this.decoded(indices, options);
  }

  /** @ignore Decodes the samples of `batches`. */
  protected override readBatch(
    indices: readonly number[],
    options: BatchReadOptions,
  ): Promise<MDSSample[]> {
    return this.decoded(indices, options);
  }

  /** @ignore Treats columns as fields. */
  protected override fieldsOf(
    { columns, fields }: MDSColumnOptions & FieldOptions,
  ): readonly string[] | undefined {
    return columns ?? fields;
  }
}

function* openReader(
  location: string | URL,
  options: MDSOptions,
): Steps<MDSReader> {
  const { path, storage } = lastingAt(location, options);
  const found = yield* findShards(path, storage);
  const shards = yield* openShards(found, storage);
  warnOfAll(noteLines(shards.notes()), options.onWarning);
  return new MDSReader(new MdsSamples(shards));
}
