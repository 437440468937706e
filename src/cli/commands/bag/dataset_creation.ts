import { dirname, join } from "node:path";
import { RecordfsError, WriteError } from "../../../errors.ts";
import { makeDirectories } from "../../../io/write/make_directories.ts";
import {
  DatasetWriter,
  type Generation,
  ShardedDatasetWriter,
  type ShardLimits,
  type Spec,
} from "../../../formats/bags/mod.ts";
import { shardName } from "../../../formats/bags/dataset/shard_names.ts";
import { NewDirectory } from "../../../io/write/new_directory.ts";
import { runAsync } from "../../../io/concurrency/steps.ts";
import { counted } from "../../terminal/counted.ts";
import { inTheWay, requirePlace } from "./dataset_place.ts";
import type { DatapointInput, GivenDatapoint } from "./datapoint_input.ts";
import { Exit } from "../../exit.ts";
import { report } from "../../messages.ts";
import { Progress } from "../../terminal/progress.ts";

/** How a dataset is written. */
export interface NewDatasetOptions extends ShardLimits {
  readonly generation: Generation;
  /** Generation 3: whether to go on behind what is there. */
  readonly resume?: boolean | undefined;
}

/** What was written. */
export interface CreatedDataset {
  readonly generation: Generation;
  /** How many the dataset has, or of one in shards those of these. */
  readonly datapoints: number;
  /** How many of them were not there before. */
  readonly added: number;
  /** Bytes of all bags and indexes. */
  readonly bytes: number;
  readonly addedBytes: number;
  /** `undefined` for a dataset without shards. */
  readonly shards: number | undefined;
}

/**
 * Writes the datapoints of an input.
 *
 * Generations 1 and 2 appear when they are complete, all shards at once, unless other processes write
 * shards as well. Of generation 3 complete datapoints stay, whatever ends it.
 *
 * @throws {RecordfsError} If something is there already, or it can't be written, or an input not be read.
 */
export async function createDataset(
  out: string,
  spec: Spec,
  input: DatapointInput,
  options: NewDatasetOptions,
  signal: AbortSignal,
): Promise<CreatedDataset> {
  const creation = new Creation(out, spec, input, options, signal);
  if (options.generation === 3) return await creation.inItsPlace();
  return creation.isSharded && !creation.takesTurns
    ? await creation.atOnce()
    : await creation.write(out);
}

class Creation {
  /** Whether OUT has shards, and whether others write some of them. */
  readonly isSharded: boolean;
  readonly takesTurns: boolean;
  readonly #out: string;
  readonly #spec: Spec;
  readonly #input: DatapointInput;
  readonly #options: NewDatasetOptions;
  readonly #signal: AbortSignal;
  readonly #keepsShards: boolean;
  #datapoints = 0;
  #added = 0;
  #bytes = 0;
  #addedBytes = 0;
  #shards = 0;
  /** Whether what was appended is written, too. */
  #isWritten = true;

  constructor(
    out: string,
    spec: Spec,
    input: DatapointInput,
    options: NewDatasetOptions,
    signal: AbortSignal,
  ) {
    this.#out = out;
    this.#spec = spec;
    this.#input = input;
    this.#options = options;
    this.#signal = signal;
    const { shardSize, shardLength, shardStart, shardStep } = options;
    const hasLimits = shardSize !== undefined || shardLength !== undefined;
    this.#keepsShards = input.shards !== undefined && !hasLimits;
    this.isSharded = hasLimits || this.#keepsShards;
    this.takesTurns = shardStart !== undefined || shardStep !== undefined;
  }

  /** Generation 3: what is complete stays. */
  async inItsPlace(): Promise<CreatedDataset> {
    await requirePlace(this.#out, this.isSharded, this.#signal);
    try {
      return await this.write(this.#out);
    } catch (error) {
      const there = this.#isWritten
        ? `has ${counted(this.#datapoints, "datapoint")}`
        : "keeps the datapoints that were written";
      const hint = `${this.#out} ${there}; --resume adds those that follow`;
      const isThere = this.#datapoints > 0 || !this.#isWritten;
      if (error instanceof Exit && isThere) report(`stopped: ${hint}`);
      if (!(error instanceof RecordfsError) || this.#added === 0) throw error;
      throw reworded(error, `${error.message} (${hint})`);
    }
  }

  /** Shards of generations 1 and 2 in a directory that appears with all of them. */
  async atOnce(): Promise<CreatedDataset> {
    const above = dirname(this.#out);
    const signal = this.#signal;
    const made = await runAsync(makeDirectories(above, this.#out), signal);
    let place: NewDirectory | undefined;
    try {
      place = await runAsync(NewDirectory.create(this.#out), signal);
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

  /** Writes everything to a directory. */
  async write(directory: string): Promise<CreatedDataset> {
    const { generation } = this.#options;
    const { unit, total, name } = this.#input;
    const form = { generation, encoders: null, signal: this.#signal };
    {
      using progress = new Progress("writing", unit, total);
      if (this.#keepsShards) {
        await this.#eachShard(directory, form, progress);
      } else if (this.isSharded) {
        const options = { ...this.#options, ...form };
        const writer = await ShardedDatasetWriter.open(
          directory,
          this.#spec,
          options,
        );
        await this.#fill(writer, undefined, progress);
        this.#shards = writer.shards;
      } else {
        const writer = await DatasetWriter.open(directory, this.#spec, form);
        await this.#fill(writer, undefined, progress);
      }
    }
    if (this.isSharded && this.#shards === 0 && !this.takesTurns) {
      throw new RecordfsError(
        "no-datapoints",
        `${name} has no datapoint, and a dataset in shards cannot be without; leave the --shard ` +
          "options out",
        { path: name },
      );
    }
    return {
      generation,
      datapoints: this.#datapoints,
      added: this.#added,
      bytes: this.#bytes,
      addedBytes: this.#addedBytes,
      shards: this.isSharded ? this.#shards : undefined,
    };
  }

  async #eachShard(
    directory: string,
    form: Parameters<typeof DatasetWriter.open>[2],
    progress: Progress,
  ): Promise<void> {
    for (let shard = 0; shard < this.#input.shards!; shard++) {
      const place = join(directory, shardName(shard));
      const writer = await DatasetWriter.open(place, this.#spec, form);
      await this.#fill(writer, shard, progress);
      this.#shards++;
    }
  }

  /** Appends what a writer does not have yet, and closes it. */
  async #fill(
    writer: DatasetWriter | ShardedDatasetWriter,
    shard: number | undefined,
    progress: Progress,
  ): Promise<void> {
    const { length } = writer;
    const size = length === 0 ? 0 : writer.size; // an empty index may have bytes
    try {
      this.#requireUnwritten(writer);
      const points = this.#input.datapoints(length, shard);
      for await (const point of points) {
        await this.#append(writer, point);
        progress.update(point.done);
      }
      await writer.close({ signal: this.#signal });
    } catch (error) {
      // What is gathered is written before the writer is given up; what hinders that is in `error` already.
      // Where there is nothing, nothing is to stay.
      if (this.#options.generation === 3 && writer.length > length) {
        await writer.close().catch(() => this.#isWritten = false);
      }
      throw error;
    } finally {
      writer.abort();
      this.#datapoints += writer.length;
      this.#added += writer.length - length;
      this.#bytes += writer.size;
      this.#addedBytes += writer.size - size;
    }
  }

  /** Says as well where a datapoint comes from that cannot be written. */
  async #append(
    writer: DatasetWriter | ShardedDatasetWriter,
    { records, where }: GivenDatapoint,
  ): Promise<void> {
    try {
      await writer.append(records, { signal: this.#signal });
    } catch (error) {
      const isNamed = !(error instanceof RecordfsError) ||
        error instanceof WriteError && !OF_A_DATAPOINT.has(error.code) ||
        error.message.includes(where);
      if (isNamed) throw error;
      throw reworded(error, `${where}: ${error.message}`);
    }
  }

  /** What was begun and has no datapoint is as good as new. */
  #requireUnwritten(writer: DatasetWriter | ShardedDatasetWriter): void {
    if (this.#options.resume || writer.length === 0) return;
    throw inTheWay(
      this.#out,
      `it has ${
        counted(writer.length, "datapoint")
      } already; --resume adds those that follow, or`,
    );
  }
}

/** What is wrong with a datapoint, and not with the place that it is written to. */
const OF_A_DATAPOINT: ReadonlySet<string> = new Set(
  ["bad-datapoint", "bad-value", "empty-record", "mismatch"],
);

/** The same error with more said. */
function reworded(error: RecordfsError, message: string): RecordfsError {
  const { code, path, sample } = error;
  const Kind = error instanceof WriteError ? WriteError : RecordfsError;
  return new Kind(code, message, { path, sample, cause: error });
}
