import { dirname, join } from "node:path";
import { RecordfsError, WriteError } from "../../../base/errors.ts";
import { makeDirectories } from "../../../io/write/make_directories.ts";
import {
  DatasetWriter,
  type Generation,
  ShardedDatasetWriter,
} from "../../../formats/bags/mod.ts";
import type { Spec } from "../../../formats/bags/dataset/spec.ts";
import type { ShardLimits } from "../../../formats/bags/write/sharded_dataset_writer.ts";
import { shardName } from "../../../formats/bags/dataset/dataset_location.ts";
import { NewDirectory } from "../../../io/write/new_directory.ts";
import { runAsync } from "../../../io/concurrency/steps.ts";
import { counted } from "../../terminal/amounts.ts";
import { LOCAL_DISK } from "../../../io/storage/storage.ts";
import {
  SHARD_NAME,
  SPEC_FILE,
} from "../../../formats/bags/dataset/dataset_names.ts";
import type { DatapointInput, GivenDatapoint } from "./datapoint_input.ts";
import { Exit } from "../../exit.ts";
import { report } from "../../messages.ts";
import { Progress } from "../../terminal/progress.ts";

export interface NewDatasetOptions extends ShardLimits {
  readonly generation: Generation;
  /** For generation 3: whether to append to existing datapoints. */
  readonly resume?: boolean | undefined;
}

export interface CreatedDataset {
  readonly generation: Generation;
  /** Datapoints of the dataset; of a sharded one, those of the shards written here. */
  readonly datapoints: number;
  readonly added: number;
  readonly bytes: number;
  readonly addedBytes: number;
  /** `undefined` for a dataset without shards. */
  readonly shards: number | undefined;
}

/**
 * Writes the datapoints of an input.
 *
 * Generations 1 and 2 appear when they are complete, all shards at once, unless other processes also write shards. In
 * generation 3, complete datapoints persist even if writing fails.
 *
 * @throws {RecordfsError} If the target exists or cannot be written, or the input cannot be read.
 */
export async function createDataset(
  out: string,
  spec: Spec,
  input: DatapointInput,
  options: NewDatasetOptions,
  signal: AbortSignal,
): Promise<CreatedDataset> {
  const creation = new Creation({ out, spec, input, options, signal });
  if (options.generation === 3) return await creation.inItsPlace();
  return creation.isSharded && !creation.takesTurns
    ? await creation.atOnce()
    : await creation.write(out);
}

interface Task {
  readonly out: string;
  readonly spec: Spec;
  readonly input: DatapointInput;
  readonly options: NewDatasetOptions;
  readonly signal: AbortSignal;
}

class Creation {
  /** Whether the dataset has shards; `takesTurns` if other processes write some of them. */
  readonly isSharded: boolean;
  readonly takesTurns: boolean;
  readonly #task: Task;
  readonly #keepsShards: boolean;
  readonly #done = { datapoints: 0, added: 0, bytes: 0, addedBytes: 0 };
  #shards = 0;
  #isWritten = true;

  constructor(task: Task) {
    this.#task = task;
    const { shardSize, shardLength, shardStart, shardStep } = task.options;
    const hasLimits = shardSize !== undefined || shardLength !== undefined;
    this.#keepsShards = task.input.shards !== undefined && !hasLimits;
    this.isSharded = hasLimits || this.#keepsShards;
    this.takesTurns = shardStart !== undefined || shardStep !== undefined;
  }

  /** Writes generation 3: complete datapoints persist. */
  async inItsPlace(): Promise<CreatedDataset> {
    const { out, signal } = this.#task;
    await requirePlace(out, this.isSharded, signal);
    try {
      return await this.write(out);
    } catch (error) {
      const { datapoints, added } = this.#done;
      const there = this.#isWritten
        ? `has ${counted(datapoints, "datapoint")}`
        : "keeps the datapoints written so far";
      const hint = `${out} ${there}; add the others with --resume`;
      const isThere = datapoints > 0 || !this.#isWritten;
      if (error instanceof Exit && isThere) report(`stopped: ${hint}`);
      if (!(error instanceof RecordfsError) || added === 0) throw error;
      throw reworded(error, `${error.message} (${hint})`);
    }
  }

  /** Writes shards of generation 1 or 2 to a directory that appears with all of them. */
  async atOnce(): Promise<CreatedDataset> {
    const { out, signal } = this.#task;
    const made = await runAsync(makeDirectories(dirname(out), out), signal);
    let place: NewDirectory | undefined;
    try {
      place = await runAsync(NewDirectory.create(out), signal);
      const created = await this.write(place.temporary);
      await runAsync(place.publish());
      return created;
    } catch (error) {
      throw place?.asPublished(error) ?? error;
    } finally {
      place?.discard();
      made.removeEmpty();
    }
  }

  async write(directory: string): Promise<CreatedDataset> {
    const { spec, input, options, signal } = this.#task;
    const { generation } = options;
    const form = { generation, encoders: null, signal };
    {
      using progress = new Progress("writing", input.unit, input.total);
      if (this.#keepsShards) {
        for (; this.#shards < input.shards!; this.#shards++) {
          const place = join(directory, shardName(this.#shards));
          const writer = await DatasetWriter.open(place, spec, form);
          await this.#fill(writer, this.#shards, progress);
        }
      } else if (this.isSharded) {
        const limited = { ...options, ...form };
        const writer = await ShardedDatasetWriter.open(
          directory,
          spec,
          limited,
        );
        await this.#fill(writer, undefined, progress);
        this.#shards = writer.shards;
      } else {
        const writer = await DatasetWriter.open(directory, spec, form);
        await this.#fill(writer, undefined, progress);
      }
    }
    if (this.isSharded && this.#shards === 0 && !this.takesTurns) {
      const path = input.name;
      throw new RecordfsError(
        "no-datapoints",
        `Cannot write a dataset in shards: ${path} has no datapoints. Remove the --shard ` +
          "options",
        { path },
      );
    }
    const shards = this.isSharded ? this.#shards : undefined;
    return { generation, ...this.#done, shards };
  }

  /** Appends the datapoints that a writer does not have yet, and closes it. */
  async #fill(
    writer: DatasetWriter,
    shard: number | undefined,
    progress: Progress,
  ): Promise<void> {
    const { input, options, signal } = this.#task;
    const { length } = writer;
    const size = length === 0 ? 0 : writer.size; // an empty index may have bytes
    try {
      this.#requireUnwritten(writer);
      for await (const point of input.datapoints(length, shard)) {
        await this.#append(writer, point);
        progress.update(point.done);
      }
      await writer.close({ signal });
    } catch (error) {
      // Write buffered datapoints before aborting; an error of that is already in `error`. If nothing was
      // added, nothing may remain.
      if (options.generation === 3 && writer.length > length) {
        await writer.close().catch(() => this.#isWritten = false);
      }
      throw error;
    } finally {
      writer.abort();
      const done = this.#done;
      done.datapoints += writer.length;
      done.added += writer.length - length;
      done.bytes += writer.size;
      done.addedBytes += writer.size - size;
    }
  }

  async #append(
    writer: DatasetWriter,
    { records, where }: GivenDatapoint,
  ): Promise<void> {
    try {
      await writer.write(records, { signal: this.#task.signal });
    } catch (error) {
      const isNamed = !(error instanceof RecordfsError) ||
        error instanceof WriteError && !OF_A_DATAPOINT.has(error.code) ||
        error.message.includes(where);
      if (isNamed) throw error;
      throw reworded(error, `${where}: ${error.message}`);
    }
  }

  /** Rejects existing datapoints without `resume`. A dataset without datapoints counts as new. */
  #requireUnwritten(writer: DatasetWriter): void {
    if (this.#task.options.resume || writer.length === 0) return;
    throw inTheWay(
      this.#task.out,
      `it has ${
        counted(writer.length, "datapoint")
      } already. Add the others with --resume, or choose`,
    );
  }
}

/** Error codes of a datapoint, as opposed to its destination. */
const OF_A_DATAPOINT: ReadonlySet<string> = new Set(
  ["bad-datapoint", "bad-value", "empty-record", "mismatch"],
);

function reworded(error: RecordfsError, message: string): RecordfsError {
  const { code, path, sample } = error;
  const Kind = error instanceof WriteError ? WriteError : RecordfsError;
  return new Kind(code, message, { path, sample, cause: error });
}

/**
 * Throws `exists` unless a dataset of generation 3 can be written to a path: it must be empty, or contain a dataset.
 * The writer checks whether the dataset can be continued.
 */
async function requirePlace(
  out: string,
  isSharded: boolean,
  signal: AbortSignal,
): Promise<void> {
  const names = (await namesIn(out, signal))
    .filter((name) => !name.startsWith("."));
  if (names.length === 0) return;
  const stray = isSharded
    ? names.find((name) => !SHARD_NAME.test(name))
    : names.includes(SPEC_FILE)
    ? undefined
    : names[0];
  if (stray === undefined) return;
  const what = isSharded ? "a dataset in shards" : "a dataset";
  throw inTheWay(out, `it has ${stray}, so it is not ${what}. Choose`);
}

function inTheWay(out: string, why: string): WriteError {
  return new WriteError(
    "exists",
    `Cannot write ${out}: ${why} another name`,
    { path: out },
  );
}

/** Names in a directory; none if it does not exist or is not a directory, which the writer reports. */
async function namesIn(
  path: string,
  signal: AbortSignal,
): Promise<readonly string[]> {
  try {
    return await runAsync(LOCAL_DISK.list(path), signal) ?? [];
  } catch (error) {
    if (error instanceof RecordfsError && error.code === "ENOENT") return [];
    throw error;
  }
}
