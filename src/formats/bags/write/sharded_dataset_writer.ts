import type { WaitOptions } from "../../../io/storage/byte_source.ts";
import { localPath } from "../../../io/storage/local_path.ts";
import { makeDirectories } from "../../../io/write/make_directories.ts";
import {
  runAsync,
  runSync,
  type Steps,
} from "../../../io/concurrency/steps.ts";
import {
  type DatasetForm,
  datasetForm,
  type DatasetWriterOptions,
} from "./dataset_target.ts";
import { DatasetWriter } from "./dataset_writer.ts";
import {
  findWrittenShards,
  requireLimits,
  ShardOutput,
} from "./shard_output.ts";

/**
 * Writes a dataset in shards, directories `000000`, `000001`, … (Python's `ShardedDatasetWriter`). A shard is full when
 * it has reached `shardSize` bytes or `shardLength` datapoints.
 *
 * Several writers can write a dataset together: writer k of n with `shardStart: k, shardStep: n` writes the shards k, k
 * + n, … (the README of bags calls n `shard_stop`). When all have ended, the numbers must have no gap.
 *
 * In generations 1 and 2 each shard appears when it is complete: before the next datapoint is written, or on closing. A
 * killed process leaves a hidden directory, which is removed when that shard is written again.
 *
 * In generation 3, opening the directory again continues its last shard, as {@linkcode DatasetWriter} does.
 * {@linkcode ShardedDatasetWriter.length} counts the datapoints of all shards of this writer: append those that follow.
 * (Python's writer starts at its first shard again, and appends to that.)
 *
 * @example Write shards of two datapoints, and continue
 * ```ts
 * import { ShardedDatasetWriter } from "@recordfs/recordfs/bags";
 * import assert from "node:assert/strict";
 *
 * const directory = `${await Deno.makeTempDir()}/bytes`;
 * const options = { encoders: null, shardLength: 2 };
 * await using writer = await ShardedDatasetWriter.open(directory, { x: "bytes" }, options);
 * for (const x of [1, 2, 3]) await writer.write({ x: Uint8Array.of(x) });
 * await writer.close();
 *
 * await using again = await ShardedDatasetWriter.open(directory, { x: "bytes" }, options);
 * assert.equal(again.length, 3);
 * await again.write({ x: Uint8Array.of(4) });
 * await again.close();
 * assert.deepEqual(await Deno.readFile(`${directory}/000001/x.bag`), Uint8Array.of(3, 4));
 * ```
 */
export class ShardedDatasetWriter extends DatasetWriter {
  readonly #output: ShardOutput;

  private constructor(
    path: string,
    form: DatasetForm,
    output: ShardOutput,
  ) {
    super(path, form, output, output);
    this.#output = output;
  }

  static *#open(
    location: string | URL,
    spec: Readonly<Record<string, string>>,
    options: DatasetWriterOptions & ShardLimits,
  ): Steps<ShardedDatasetWriter> {
    const directory = localPath(location);
    const form = datasetForm(directory, spec, options);
    requireLimits(options);
    const made = yield* makeDirectories(directory, directory);
    try {
      const done = yield* findWrittenShards(directory, options, form);
      const output = new ShardOutput(directory, form, options, done, made);
      if (done.isBegun) yield* output.openShard();
      return new ShardedDatasetWriter(directory, form, output);
    } catch (error) {
      made.removeEmpty();
      throw error;
    }
  }

  /**
   * Starts shards; in generation 3, continues existing ones.
   *
   * @param directory Directory of the shards; parent directories are created.
   * @param spec Types by key. In generations 1 and 2, a type ending in `[]` is a list.
   * @throws {WriteError} If the spec has keys or types that the original packages refuse (`bad-spec`), another spec
   * exists (`spec-differs`), another writer has the shard open (`busy`), shards of these numbers exist (`exists`; in
   * generation 3, if some are missing or incomplete), or they can't be written there.
   * @throws {RangeError} If a limit is not an integer in range, or `shardStart` or `shardStep` is used without a limit.
   * @throws {FormatError} If the dataset to continue is damaged.
   */
  static override open(
    directory: string | URL,
    spec: Readonly<Record<string, string>>,
    options: DatasetWriterOptions & WaitOptions & {
      /** Size in bytes, with indexes and references, at which a shard is full. */
      readonly shardSize?: number | undefined;
      /** Number of datapoints at which a shard is full. */
      readonly shardLength?: number | undefined;
      /** Number of the first shard. Defaults to 0. */
      readonly shardStart?: number | undefined;
      /** Step to the next shard. Defaults to 1. */
      readonly shardStep?: number | undefined;
    } = {},
  ): Promise<ShardedDatasetWriter> {
    return runAsync(
      ShardedDatasetWriter.#open(directory, spec, options),
      options.signal,
    );
  }

  /** Synchronous {@linkcode ShardedDatasetWriter.open}. */
  static override openSync(
    directory: string | URL,
    spec: Readonly<Record<string, string>>,
    options: Omit<
      NonNullable<Parameters<typeof ShardedDatasetWriter.open>[2]>,
      "signal"
    > = {},
  ): ShardedDatasetWriter {
    return runSync(ShardedDatasetWriter.#open(directory, spec, options));
  }

  /** Number of this writer's shards so far, including those that existed before. */
  get shards(): number {
    return this.#output.shards;
  }
}

/** When a shard is full, and which shards a writer writes. */
export type ShardLimits = Pick<
  NonNullable<Parameters<typeof ShardedDatasetWriter.open>[2]>,
  "shardSize" | "shardLength" | "shardStart" | "shardStep"
>;
