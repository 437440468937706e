import * as path from "node:path";
import type { WaitOptions } from "../../io/byte_source.ts";
import { localPath } from "../../io/local_path.ts";
import { runAsync, runSync, type Steps } from "../../io/steps.ts";
import type { Datapoint } from "./datapoint.ts";
import { makeDirectories } from "./dataset_target.ts";
import type { Generation } from "./generation.ts";
import {
  requireLimits,
  type ShardLimits,
  ShardOutput,
} from "./shard_output.ts";
import type { Spec } from "./spec.ts";
import {
  datasetForm,
  type DatasetWriterOptions,
  type FlushOptions,
} from "./write_options.ts";
import { WriterLife } from "./writer_life.ts";
import { findWrittenShards } from "./written_shards.ts";

/** Options of {@linkcode ShardedDatasetWriter.open}. */
export interface ShardedDatasetWriterOptions
  extends DatasetWriterOptions, ShardLimits {}

/**
 * Writes a dataset in shards, directories `000000`, `000001`, … (Python's `ShardedDatasetWriter`).
 * A shard is full when it has reached `shardSize` bytes or `shardLength` datapoints.
 *
 * Several writers can write a dataset together: writer k of n with `shardStart: k, shardStep: n`
 * writes the shards k, k + n, … (the README of bags calls n `shard_stop`). When all have ended, the
 * numbers must have no gap.
 *
 * In generations 1 and 2 each shard appears when it is complete: before the datapoint that follows
 * it is written, or on closing. A process that is killed leaves a hidden directory, which is to be
 * removed by hand.
 *
 * In generation 3, opening the directory again continues its last shard, as
 * {@linkcode DatasetWriter} does, and {@linkcode ShardedDatasetWriter.length} counts the datapoints
 * of all shards of this writer: append those that follow. (Python's writer starts at its first shard
 * again, and appends to that.)
 *
 * @example Write shards of two datapoints, and continue
 * ```ts
 * import { ShardedDatasetWriter } from "@recordfs/recordfs/bags";
 * import assert from "node:assert/strict";
 *
 * const directory = `${await Deno.makeTempDir()}/bytes`;
 * const options = { encoders: null, shardLength: 2 };
 * await using writer = await ShardedDatasetWriter.open(directory, { x: "bytes" }, options);
 * for (const x of [1, 2, 3]) await writer.append({ x: Uint8Array.of(x) });
 * await writer.close();
 *
 * await using again = await ShardedDatasetWriter.open(directory, { x: "bytes" }, options);
 * assert.equal(again.length, 3);
 * await again.append({ x: Uint8Array.of(4) });
 * await again.close();
 * assert.deepEqual(await Deno.readFile(`${directory}/000001/x.bag`), Uint8Array.of(3, 4));
 * ```
 */
export class ShardedDatasetWriter implements Disposable, AsyncDisposable {
  /** The path of the directory, as it was given. */
  readonly path: string;
  /** The form of the dataset. */
  readonly generation: Generation;
  /** The types by key; the keys are sorted. */
  readonly spec: Spec;
  readonly #output: ShardOutput;
  readonly #life: WriterLife;

  private constructor(
    path: string,
    generation: Generation,
    spec: Spec,
    output: ShardOutput,
  ) {
    this.path = path;
    this.generation = generation;
    this.spec = spec;
    this.#output = output;
    this.#life = new WriterLife(path, output);
  }

  static *#open(
    location: string | URL,
    spec: Spec,
    options: ShardedDatasetWriterOptions,
  ): Steps<ShardedDatasetWriter> {
    const directory = localPath(location);
    const form = datasetForm(directory, spec, options);
    const numbers = requireLimits(options);
    yield* makeDirectories(directory, directory);
    const done = yield* findWrittenShards(directory, numbers, form);
    const place = (name: string) => path.join(directory, name);
    const output = new ShardOutput(place, form, options, done);
    if (done.isBegun) yield* output.openShard();
    return new ShardedDatasetWriter(
      directory,
      form.generation,
      form.spec.spec,
      output,
    );
  }

  /**
   * Starts shards, or in generation 3 continues them.
   *
   * @param directory Where; the directories above it are made.
   * @param spec Types by key. In generations 1 and 2 a type that ends in `[]` is that of a list.
   * @throws {WriteError} If the spec has keys or types that the original packages refuse
   * (`bad-spec`), another one is there (`spec-differs`), another writer has the shard open (`busy`),
   * shards of these numbers are there (`exists`; in generation 3, if some are missing or incomplete),
   * or they can't be written there.
   * @throws {RangeError} If the limits are no whole numbers, or `shardStart` and `shardStep` have none.
   * @throws {FormatError} If a dataset that is to be continued is damaged.
   */
  static open(
    directory: string | URL,
    spec: Spec,
    options: ShardedDatasetWriterOptions & WaitOptions = {},
  ): Promise<ShardedDatasetWriter> {
    return runAsync(
      ShardedDatasetWriter.#open(directory, spec, options),
      options.signal,
    );
  }

  /** {@linkcode ShardedDatasetWriter.open} without waiting. */
  static openSync(
    directory: string | URL,
    spec: Spec,
    options: ShardedDatasetWriterOptions = {},
  ): ShardedDatasetWriter {
    return runSync(ShardedDatasetWriter.#open(directory, spec, options));
  }

  /** Number of this writer's shards so far, those among them that were there before. */
  get shards(): number {
    return this.#output.shards;
  }

  /** Number of datapoints in this writer's shards, those among them that were there before. */
  get length(): number {
    return this.#output.length;
  }

  /** Bytes of all their bags and indexes, those of `refs.bag` included. */
  get size(): number {
    return this.#output.size;
  }

  /**
   * Appends a datapoint. Calls that are not awaited keep their order; if one fails, so do those that
   * were made after it without waiting.
   *
   * @param datapoint A value for each key of the spec; of a list type an array, or any other
   * iterable, also one that has to be waited for. It must not be changed before the promise is
   * settled.
   * @returns The datapoint's index.
   * @throws {WriteError} If keys are missing or surplus (`bad-datapoint`), a value cannot be encoded
   * (`bad-value`) or is empty in generations 2 and 3 (`empty-record`), is not the one that was
   * written there by a process that was killed (`mismatch`), or the system refuses.
   */
  // deno-lint-ignore require-await -- what is wrong rejects, too
  async append(
    datapoint: Readonly<Datapoint>,
    options: WaitOptions = {},
  ): Promise<number> {
    options.signal?.throwIfAborted();
    this.#life.requireOpen();
    return this.#life.run(
      () => this.#output.append(datapoint),
      options.signal,
    );
  }

  /** {@linkcode ShardedDatasetWriter.append} without waiting: encoders and lists must not have to, either. */
  appendSync(datapoint: Readonly<Datapoint>): number {
    return this.#life.runSync(() => this.#output.append(datapoint));
  }

  /**
   * Writes what was gathered. In generation 3, readers find it then, and it outlives the process;
   * with `sync` also a loss of power.
   *
   * @throws {WriteError} If the system refuses.
   */
  // deno-lint-ignore require-await -- what is wrong rejects, too
  async flush({ sync = false, signal }: FlushOptions & WaitOptions = {}): //
  Promise<void> {
    this.#life.requireOpen();
    return this.#life.run(() => this.#output.flush(sync), signal);
  }

  /** {@linkcode ShardedDatasetWriter.flush} without waiting. */
  flushSync({ sync = false }: FlushOptions = {}): void {
    this.#life.runSync(() => this.#output.flush(sync));
  }

  /**
   * Completes the last shard and waits until it is on the disk. Closing again does nothing. If it
   * fails, nothing is left of that shard in generations 1 and 2, and in generation 3 what was written
   * before.
   *
   * @throws {WriteError} If an append that was not awaited has failed, or the system refuses.
   */
  close(options: WaitOptions = {}): Promise<void> {
    return this.#life.close(options.signal);
  }

  /** {@linkcode ShardedDatasetWriter.close} without waiting. */
  closeSync(): void {
    this.#life.closeSync();
  }

  /**
   * Gives the writer up: of the last shard nothing remains in generations 1 and 2, in generation 3
   * what was written; what was only gathered is lost.
   */
  abort(): void {
    this.#life.abort();
  }

  /** Aborts, unless the dataset is closed. */
  [Symbol.dispose](): void {
    this.#life.abort();
  }

  /** Aborts, unless the dataset is closed or about to be. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#life.dispose();
  }
}
