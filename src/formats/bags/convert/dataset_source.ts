import {
  ConversionError,
  type PlanNotes,
} from "../../../convert/conversion.ts";
import {
  type FileTree,
  withRootFile,
} from "../../../convert/from/file_tree.ts";
import {
  containerRecords,
  type RecordList,
} from "../../../convert/from/record_list.ts";
import {
  ContainerSource,
  type ConversionSource,
  readIfThere,
  RecordSource,
  type SourceOptions,
} from "../../../convert/from/source.ts";
import type { SampleRows } from "../../../convert/samples/sample_rows.ts";
import type { VideoSource } from "../../../convert/from/video_source.ts";
import { LABEL_FILE } from "../../../convert/label_file.ts";
import { runAsync } from "../../../io/concurrency/steps.ts";
import type { WaitOptions } from "../../../io/storage/byte_source.ts";
import { firstFrom } from "../../../tree/shared_numbers.ts";
import type { VirtualFs } from "../../../tree/vfs/virtual_fs.ts";
import type { Generation } from "../dataset/dataset_names.ts";
import { type Spec, specOf } from "../dataset/spec.ts";
import { BagsSamples } from "../read/bags_samples.ts";
import type { ShardReader } from "../read/shard_reader.ts";
import { videosOfDataset } from "./dataset_videos.ts";
import { labelPlace } from "./new_dataset.ts";

export class DatasetSource extends ContainerSource {
  readonly datapoints: BagsSamples;
  /** Shards in order, at least one. */
  readonly shards: readonly ShardReader[];
  readonly isSharded: boolean;
  /** Its `label2idx.json`, which came with videos from GulpIO. */
  readonly labels: Uint8Array | undefined;
  /** Types of the keys; in a sharded dataset, those of the first shard. */
  readonly spec: Spec;

  private constructor(
    container: VirtualFs,
    samples: BagsSamples,
    shards: readonly ShardReader[],
    labels: Uint8Array | undefined,
  ) {
    const { generation, keys } = shards[0]!.shard;
    super(container, `Bags, generation ${generation}`);
    this.datapoints = samples;
    this.shards = shards;
    this.isSharded = isSharded(container);
    this.labels = labels;
    this.spec = specOf(keys);
  }

  static async open(
    container: VirtualFs,
    samples: BagsSamples,
    options: SourceOptions,
  ): Promise<DatasetSource> {
    const labels = await readIfThere(
      `${container.location}/${labelPlace(isSharded(container))}`,
      options,
    );
    const shards = await runAsync(samples.all(), options.signal);
    return new DatasetSource(container, samples, shards, labels);
  }

  /** Form of the bags' indexes; in a sharded dataset, that of the first shard. */
  get generation(): Generation {
    return this.shards[0]!.shard.generation;
  }

  /** Number of datapoints to convert. */
  get length(): number {
    return this.subset?.indices.length ?? this.datapoints.shards.length;
  }

  /** Shards that have datapoints to convert, in order, at least one. */
  get usedShards(): readonly ShardReader[] {
    if (this.subset === undefined) return this.shards;
    const used = this.shards.filter((shard) =>
      this.numbersIn(shard)!.length > 0
    );
    return used.length > 0 ? used : this.shards.slice(0, 1);
  }

  /** Returns the indices, among all datapoints, of those of a shard to convert; `undefined` for all of the shard. */
  numbersIn({ start, length }: ShardReader): ArrayLike<number> | undefined {
    if (this.subset === undefined) return undefined;
    const { indices } = this.subset;
    const end = firstFrom(indices, start + length);
    return indices.subarray(firstFrom(indices, start), end);
  }

  /** Returns the index, among all datapoints, of the one that is converted as number `i`. */
  numberAt(i: number): number {
    return this.subset?.indices[i] ?? i;
  }

  override async files(): Promise<FileTree> {
    const own = await super.files();
    const { labels } = this;
    return labels === undefined ? own : withRootFile(own, LABEL_FILE, labels);
  }

  override noteFiles(notes: PlanNotes): void {
    const { generation, spec } = this;
    notes.kept.push("values as bytes, keys, types in spec.json, shards");
    if (this.labels !== undefined) notes.kept.push(LABEL_FILE);
    notes.changed.push("values are files named INDEX/KEY");
    const usesFirst = generation === 1 &&
      Object.values(spec).some((type) => /^int\b/.test(type));
    if (usesFirst) {
      notes.changed.push(
        "numbers are unsigned, as in generation 1, which no file records: give generation 1 to " +
          "convert the files back",
      );
    }
  }

  override records(notes: PlanNotes, options: WaitOptions): RecordList {
    const { spec, generation } = this;
    const keys = Object.keys(spec);
    const [key = ""] = keys;
    const type = spec[key];
    if (keys.length !== 1 || generation < 3 && type!.endsWith("[]")) {
      throw new ConversionError(
        "cannot-convert",
        `Cannot convert ${this.path}: records without names can be made of a dataset ` +
          `with one key that is not a list, and this one has ${
            keys.map((key) => `'${key}' (${spec[key]})`).join(", ")
          }; convert it to a packed folder (.ffr)`,
        this.path,
      );
    }
    notes.lost.push(`the name of the key '${key}'`, `its type, ${type}`);
    if (this.labels !== undefined) notes.lost.push(LABEL_FILE);
    if (this.isSharded) notes.changed.push("all shards become one sequence");
    return containerRecords(this.container, options, this.unreadable, key);
  }

  override samples(
    notes: PlanNotes,
    options: WaitOptions,
  ): Promise<SampleRows | undefined> {
    if (this.labels !== undefined) notes.lost.push(LABEL_FILE);
    return super.samples(notes, options);
  }

  override videos(notes: PlanNotes): VideoSource {
    return videosOfDataset(this, notes);
  }

  override get isTyped(): boolean {
    return true;
  }
}

function isSharded({ info }: VirtualFs): boolean {
  return info.facts?.["shards"] !== undefined;
}

export async function bagsSource(
  container: VirtualFs,
  options: SourceOptions,
): Promise<ConversionSource> {
  const { samples } = container;
  if (samples instanceof BagsSamples) {
    return await DatasetSource.open(container, samples, options);
  }
  const what = `a bag of generation ${container.info.facts!["generation"]}`;
  return new RecordSource(container, what, "records");
}
