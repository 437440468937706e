import * as path from "node:path";
import { WriteError } from "../../../base/errors.ts";
import type { Datapoint } from "../read/selection.ts";
import { DatasetWriter } from "../write/dataset_writer.ts";
import { type Generation, mayBeEmpty } from "../dataset/dataset_names.ts";
import { shardName } from "../dataset/dataset_location.ts";
import { ShardedDatasetWriter } from "../write/sharded_dataset_writer.ts";
import type { Spec } from "../dataset/spec.ts";
import { NewDirectory } from "../../../io/write/new_directory.ts";
import {
  type Conversion,
  type ConvertOptions,
  isAboutValue,
  type Run,
  UnfitError,
} from "../../../convert/conversion.ts";
import type { ConversionSource } from "../../../convert/from/source.ts";
import { LABEL_FILE, writeLabels } from "../../../convert/label_file.ts";
import type { ShardLimits } from "../write/sharded_dataset_writer.ts";

interface DatasetForm extends Pick<DatasetPlan, "spec" | "labels" | "fill"> {
  readonly generation: Generation;
  /** Limits of shards; `undefined` if there are none. */
  readonly limits: Pick<ShardLimits, "shardSize" | "shardLength"> | undefined;
  /** Whether shards end where {@linkcode NewDataset.startShard} is called. */
  readonly keepsShards: boolean;
}

/** Parts of a conversion to a dataset that depend on the source. */
interface DatasetPlan extends Pick<Conversion, "notes" | "unit" | "total"> {
  readonly spec: Spec;
  /** Whether the source has shards, which are kept unless `shardSize` or `shardLength` is given. */
  readonly isSharded?: boolean;
  /** Content of `label2idx.json`, which came from GulpIO. */
  readonly labels?: Uint8Array | undefined;
  fill(dataset: NewDataset, run: Run): Promise<void>;
}

export function datasetConversion(
  { what }: ConversionSource,
  target: string,
  { generation = 3, shardSize, shardLength }: ConvertOptions,
  { spec, isSharded = false, labels, fill, notes, unit, total }: DatasetPlan,
): Conversion {
  const limits = shardSize !== undefined || shardLength !== undefined
    ? { shardSize, shardLength }
    : undefined;
  const keepsShards = isSharded && limits === undefined;
  if (keepsShards) notes.kept.push("shards");
  else if (isSharded) notes.changed.push("shards get other boundaries");
  const form = { spec, generation, limits, keepsShards, labels, fill };
  return {
    from: what,
    to: `Bags, generation ${generation}`,
    notes,
    unit,
    total,
    write: (run) => NewDataset.write(target, form, run),
  };
}

/** Writes a dataset of any generation atomically. Values are bytes, or iterables of bytes for list types. */
export class NewDataset {
  readonly #directory: string;
  readonly #form: DatasetForm;
  readonly #run: Run;
  #writer: DatasetWriter | undefined;
  #shards = 0;
  #length = 0;

  private constructor(directory: string, form: DatasetForm, run: Run) {
    this.#directory = directory;
    this.#form = form;
    this.#run = run;
  }

  /** Writes a dataset, and returns the number of datapoints. */
  static write(target: string, form: DatasetForm, run: Run): Promise<number> {
    return NewDirectory.write(target, run.signal, async (temporary) => {
      const dataset = new NewDataset(temporary, form, run);
      try {
        if (!form.keepsShards) await dataset.#open(temporary, form.limits);
        await form.fill(dataset, run);
        await dataset.#close();
        // Without any shard, nothing would identify the directory as a dataset.
        if (form.limits && dataset.#length === 0) await dataset.#startShard();
        await dataset.#close();
      } catch (error) {
        dataset.#writer?.abort();
        throw error;
      }
      if (form.labels !== undefined) {
        const isSharded = form.keepsShards || form.limits !== undefined;
        writeLabels(temporary, labelPlace(isSharded), form.labels);
      }
      return dataset.#length;
    });
  }

  /** Starts a new shard, if the shards of the source are kept. */
  async startShard(): Promise<void> {
    if (this.#form.keepsShards) await this.#startShard();
  }

  async #startShard(): Promise<void> {
    await this.#close();
    const name = shardName(this.#shards++);
    await this.#open(path.join(this.#directory, name));
  }

  /** Appends a datapoint, called `name` in messages. Skips one without a form in the target, if losses are allowed. */
  async append(name: string, make: () => Datapoint | Promise<Datapoint>): //
  Promise<void> {
    const { signal } = this.#run;
    try {
      await this.#writer!.write(await make(), { signal });
    } catch (error) {
      const reason = unfitReason(error);
      if (reason === undefined) throw error;
      this.#run.leaveOut(`${name}: ${reason}`, error);
      return;
    }
    this.#run.tell(++this.#length);
  }

  async #open(place: string, limits?: DatasetForm["limits"]): Promise<void> {
    const { spec, generation } = this.#form;
    const options = { encoders: null, generation, signal: this.#run.signal };
    this.#writer = limits === undefined
      ? await DatasetWriter.open(place, spec, options)
      : await ShardedDatasetWriter.open(place, spec, { ...options, ...limits });
  }

  async #close(): Promise<void> {
    await this.#writer?.close({ signal: this.#run.signal });
    this.#writer = undefined;
  }
}

/**
 * Returns the path, in a dataset, of the `label2idx.json` of the videos that it was made of. In a sharded dataset it is
 * in the first shard, since Python's `ShardedDatasetReader` takes everything next to the shards for a shard. No reader
 * looks at other files in a dataset's directory.
 */
export function labelPlace(isSharded: boolean): string {
  return isSharded ? `${shardName(0)}/${LABEL_FILE}` : LABEL_FILE;
}

/** Returns why a value has no form in the target, if the error says so. */
function unfitReason(error: unknown): string | undefined {
  if (error instanceof UnfitError) return error.message;
  if (!(error instanceof WriteError)) return undefined;
  return error.cause === undefined ? undefined : unfitReason(error.cause);
}

/**
 * Returns the bytes of a value. Throws an `UnfitError`, naming the key, if it is damaged or has no form in the target.
 */
export function fitting(
  key: string,
  generation: Generation,
  make: () => Uint8Array,
): Uint8Array {
  let made: Uint8Array;
  try {
    made = make();
  } catch (error) {
    if (!isAboutValue(error)) throw error;
    const says = error instanceof UnfitError ? " " : " cannot be converted: ";
    throw new UnfitError(`its '${key}'${says}${error.message}`, {
      cause: error,
    });
  }
  if (made.length > 0 || mayBeEmpty(generation)) return made;
  throw new UnfitError(
    `its '${key}' is empty, and generation ${generation} has no empty records`,
  );
}
