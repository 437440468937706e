import * as path from "node:path";
import { WriteError } from "../../../errors.ts";
import type { Datapoint } from "../read/datapoint.ts";
import { DatasetWriter } from "../write/dataset_writer.ts";
import type { Generation } from "../dataset/generation.ts";
import { shardName } from "../dataset/shard_names.ts";
import { ShardedDatasetWriter } from "../write/sharded_dataset_writer.ts";
import type { Spec } from "../dataset/spec.ts";
import { NewDirectory } from "../../../io/write/new_directory.ts";
import { runAsync } from "../../../io/concurrency/steps.ts";
import {
  isAboutValue,
  type Run,
  UnfitError,
} from "../../../convert/conversion.ts";
import { writeLabels } from "../../../convert/label_file.ts";
import { labelPlace } from "./label_place.ts";

/** What a new dataset is like. */
export interface DatasetForm {
  readonly spec: Spec;
  readonly generation: Generation;
  /** Shards end where these say. */
  readonly shardSize?: number | undefined;
  readonly shardLength?: number | undefined;
  /** Shards end where {@linkcode NewDataset.startShard} says. */
  readonly keepsShards?: boolean | undefined;
  /** Content of `label2idx.json`, which came along from GulpIO. */
  readonly labels?: Uint8Array | undefined;
}

/**
 * A dataset that appears whole or not at all, in every generation. Values are given as bytes, or as
 * iterables of bytes for list types.
 */
export class NewDataset {
  readonly #directory: NewDirectory;
  readonly #form: DatasetForm;
  readonly #run: Run;
  #writer: DatasetWriter | ShardedDatasetWriter | undefined;
  #shards = 0;
  #length = 0;

  private constructor(directory: NewDirectory, form: DatasetForm, run: Run) {
    this.#directory = directory;
    this.#form = form;
    this.#run = run;
  }

  /**
   * Writes a dataset.
   *
   * @param fill Appends the datapoints.
   * @returns How many there are.
   */
  static async write(
    target: string,
    form: DatasetForm,
    run: Run,
    fill: (dataset: NewDataset) => Promise<void>,
  ): Promise<number> {
    const directory = await runAsync(NewDirectory.create(target), run.signal);
    const dataset = new NewDataset(directory, form, run);
    try {
      if (form.keepsShards !== true) await dataset.#open();
      await fill(dataset);
      await dataset.#close();
      await dataset.#completeShards();
      dataset.#writeLabels();
      run.signal?.throwIfAborted();
      await runAsync(directory.publish());
      return dataset.#length;
    } catch (error) {
      dataset.#writer?.abort();
      throw directory.asPublished(error);
    } finally {
      directory.discard();
    }
  }

  /** Completes a shard, if there is one, and starts the next. */
  async startShard(): Promise<void> {
    await this.#close();
    const { spec, generation } = this.#form;
    const { signal } = this.#run;
    this.#writer = await DatasetWriter.open(
      path.join(this.#directory.temporary, shardName(this.#shards++)),
      spec,
      { encoders: null, generation, signal },
    );
  }

  /** Writes an empty shard where there is none: without any, nothing would say what the directory is. */
  async #completeShards(): Promise<void> {
    const { shardSize, shardLength } = this.#form;
    const isSharded = shardSize !== undefined || shardLength !== undefined;
    if (!isSharded || this.#length > 0) return;
    await this.startShard();
    await this.#close();
  }

  /**
   * Appends a datapoint. One that has no form in the target is left out, if the caller has agreed to
   * that.
   *
   * @param name What messages call it, as in `datapoint 3 of data`.
   */
  async append(name: string, make: () => Datapoint | Promise<Datapoint>): //
  Promise<void> {
    const { signal } = this.#run;
    try {
      await this.#writer!.append(await make(), { signal });
    } catch (error) {
      const reason = unfitReason(error);
      if (reason === undefined) throw error;
      this.#run.leaveOut(`${name}: ${reason}`, error);
      return;
    }
    this.#run.tell(++this.#length);
  }

  async #open(): Promise<void> {
    const { spec, generation, shardSize, shardLength } = this.#form;
    const { temporary } = this.#directory;
    const { signal } = this.#run;
    const options = { encoders: null, generation, signal };
    this.#writer = shardSize === undefined && shardLength === undefined
      ? await DatasetWriter.open(temporary, spec, options)
      : await ShardedDatasetWriter.open(temporary, spec, {
        ...options,
        shardSize,
        shardLength,
      });
  }

  #writeLabels(): void {
    const { shardSize, shardLength, keepsShards, labels } = this.#form;
    if (labels === undefined) return;
    const isSharded = keepsShards === true || shardSize !== undefined ||
      shardLength !== undefined;
    writeLabels(this.#directory.temporary, labelPlace(isSharded), labels);
  }

  async #close(): Promise<void> {
    await this.#writer?.close({ signal: this.#run.signal });
    this.#writer = undefined;
  }
}

/** Why a value has no form in the target, in as far as that is what an error says. */
function unfitReason(error: unknown): string | undefined {
  if (error instanceof UnfitError) return error.message;
  if (!(error instanceof WriteError)) return undefined;
  return error.cause === undefined ? undefined : unfitReason(error.cause);
}

/**
 * The bytes of a value, made for the target.
 *
 * @throws {UnfitError} If it is damaged, or has no form in the target; the message names the key.
 */
export function fitting(
  key: string,
  generation: Generation,
  make: () => Uint8Array,
): Uint8Array {
  const made = naming(key, make);
  if (made.length > 0 || generation === 1) return made;
  throw new UnfitError(
    `its '${key}' is empty, and generation ${generation} has no empty records`,
  );
}

/** Has what is wrong with a value say which key it is of. */
function naming<T>(key: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!isAboutValue(error)) throw error;
    const says = error instanceof UnfitError ? " " : " cannot be converted: ";
    throw new UnfitError(`its '${key}'${says}${error.message}`, {
      cause: error,
    });
  }
}
