import {
  ConversionError,
  type PlanNotes,
} from "../../../convert/conversion.ts";
import {
  type FileTree,
  withRootFile,
} from "../../../convert/from/file_tree.ts";
import type { RecordList } from "../../../convert/from/record_list.ts";
import {
  ContainerSource,
  type ConversionSource,
  readIfThere,
  RecordSource,
  type SourceOptions,
} from "../../../convert/from/source.ts";
import type { VideoSource } from "../../../convert/from/video_source.ts";
import { LABEL_FILE } from "../../../convert/label_file.ts";
import type { WaitOptions } from "../../../io/storage/byte_source.ts";
import type { VirtualFs } from "../../../tree/vfs/virtual_fs.ts";
import { BAG } from "../dataset/dataset_names.ts";
import { ShardedDatasetReader } from "../read/sharded_dataset_reader.ts";
import type { Shard } from "../dataset/open_shard.ts";
import { shardsOf } from "../read/dataset_reader.ts";
import { videosOfDataset } from "./dataset_videos.ts";
import { labelPlace } from "./new_dataset.ts";

/** A dataset to be converted. */
export class DatasetSource extends ContainerSource {
  readonly reader: ShardedDatasetReader;
  readonly isSharded: boolean;
  /** Its `label2idx.json`, which came along from videos. */
  readonly labels: Uint8Array | undefined;

  private constructor(
    container: VirtualFs,
    reader: ShardedDatasetReader,
    isSharded: boolean,
    labels: Uint8Array | undefined,
  ) {
    super(container, `Bags, generation ${reader.generation}`);
    this.reader = reader;
    this.isSharded = isSharded;
    this.labels = labels;
  }

  static async open(
    container: VirtualFs,
    options: SourceOptions,
  ): Promise<DatasetSource> {
    const { location, info } = container;
    const isSharded = info.facts?.["shards"] !== undefined;
    const labels = await readIfThere(
      `${location}/${labelPlace(isSharded)}`,
      options,
    );
    const reader = await ShardedDatasetReader.open(location, {
      ...options,
      decoders: null,
      onWarning() {}, // said when the container was opened
    });
    return new DatasetSource(container, reader, isSharded, labels);
  }

  /** The shards of {@linkcode DatasetSource.reader}, in their order. */
  get shards(): readonly Shard[] {
    return shardsOf(this.reader).sound.map(({ shard }) => shard);
  }

  override async files(): Promise<FileTree> {
    const own = await super.files();
    const { labels } = this;
    return labels === undefined ? own : withRootFile(own, LABEL_FILE, labels);
  }

  override noteFiles(notes: PlanNotes): void {
    const { generation, spec } = this.reader;
    notes.kept.push("values as bytes, keys, types in spec.json, shards");
    if (this.labels !== undefined) notes.kept.push(LABEL_FILE);
    notes.changed.push("values are files named INDEX/KEY");
    const usesFirst = generation === 1 &&
      Object.values(spec).some((type) => /^int\b/.test(type));
    if (usesFirst) {
      notes.changed.push(
        "no file says that numbers have no sign, as in generation 1: give that generation to " +
          "convert the files back",
      );
    }
  }

  /** The values of the only key. */
  override records(notes: PlanNotes, options: WaitOptions): RecordList {
    const { reader } = this;
    const { spec, keys, generation, length } = reader;
    const [key = ""] = keys;
    const type = spec[key];
    if (keys.length !== 1 || generation < 3 && type!.endsWith("[]")) {
      throw new ConversionError(
        "cannot-convert",
        `Cannot convert ${this.path}: records without names can be made of a dataset ` +
          `with one key that is no list, and this one has ${
            keys.map((key) => `'${key}' (${spec[key]})`).join(", ")
          }; convert it to a packed folder (.ffr)`,
        this.path,
      );
    }
    notes.lost.push(`the name of the key '${key}'`, `its type, ${type}`);
    if (this.labels !== undefined) notes.lost.push(LABEL_FILE);
    if (this.isSharded) notes.changed.push("all shards become one sequence");
    return {
      length,
      async at(index) {
        const values = await reader.get(index, undefined, options);
        return values[key] as Uint8Array;
      },
    };
  }

  override videos(notes: PlanNotes): VideoSource {
    return videosOfDataset(this, notes);
  }

  override get isTyped(): boolean {
    return true;
  }

  override close(): void {
    this.reader.close();
    super.close();
  }
}

/** A bag or a dataset to be converted. */
export async function bagsSource(
  container: VirtualFs,
  options: SourceOptions,
): Promise<ConversionSource> {
  const { kind, facts } = container.info;
  if (kind === BAG) {
    const what = `a bag of generation ${facts!["generation"]}`;
    return new RecordSource(container, what, "records");
  }
  return await DatasetSource.open(container, options);
}
