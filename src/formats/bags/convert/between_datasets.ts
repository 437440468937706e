import { BagReader } from "../read/bag_reader.ts";
import { shardName } from "../dataset/shard_names.ts";
import { ShardedDatasetReader } from "../read/sharded_dataset_reader.ts";
import { writtenSpec } from "../write/written_spec.ts";
import { LABEL_FILE } from "../../../convert/label_file.ts";
import {
  type Conversion,
  ConversionError,
  type ConvertOptions,
  PlanNotes,
  type Run,
} from "../../../convert/conversion.ts";
import { changed, changeKey, type KeyChange } from "./change_key.ts";
import { countEmpty } from "./empty_records.ts";
import { NewDataset } from "./new_dataset.ts";
import { readDatapoints } from "./read_datapoints.ts";
import type { DatasetSource } from "./dataset_source.ts";

/** A dataset to one of any generation, its shards kept unless they are to end elsewhere. */
export async function betweenDatasets(
  source: DatasetSource,
  target: string,
  options: ConvertOptions,
): Promise<Conversion> {
  const { path, reader, isSharded, labels } = source;
  const { generation: to = 3, shardSize, shardLength, signal } = options;
  const { generation: from } = reader;
  const notes = new PlanNotes();
  notes.kept.push("values, keys, the order of datapoints");
  if (labels !== undefined) notes.kept.push(LABEL_FILE);
  const changes: KeyChange[] = [];
  for (const key of reader.keys) {
    const empty = from === 1 && to !== 1
      ? await emptyOf(source, key, signal)
      : 0;
    const type = reader.spec[key]!;
    changes.push(changeKey(path, key, type, { from, to, empty }, notes));
  }
  const spec = Object.fromEntries(changes.map(({ key, type }) => [key, type]));
  writtenSpec(spec, to, target); // refuses what that generation's writers refuse
  await noteShared(source, notes, signal);
  const cuts = shardSize !== undefined || shardLength !== undefined;
  if (isSharded) {
    (cuts ? notes.changed : notes.kept).push(
      cuts ? "shards end elsewhere" : "shards",
    );
  }
  const keepsShards = isSharded && !cuts;
  const form = {
    spec,
    generation: to,
    shardSize,
    shardLength,
    keepsShards,
    labels,
  };
  return {
    from: source.what,
    to: `Bags, generation ${to}`,
    notes,
    unit: "datapoints",
    total: reader.length,
    write: (run: Run) =>
      NewDataset.write(target, form, run, async (dataset) => {
        const parts = isSharded
          ? Array.from({ length: reader.shards }, (_, i) => shardName(i))
          : [""];
        for (const part of parts) {
          if (form.keepsShards) await dataset.startShard();
          await copyPart(part, dataset);
        }
      }),
  };

  async function copyPart(name: string, dataset: NewDataset): Promise<void> {
    const directory = name === "" ? path : `${path}/${name}`;
    using part = await ShardedDatasetReader.open(directory, {
      decoders: null,
      signal,
      onWarning: () => {}, // said when the source was opened
    });
    requireSame(part, reader);
    let index = 0;
    for await (const datapoint of readDatapoints(part, { signal })) {
      await dataset.append(
        `datapoint ${index++} of ${directory}`,
        () => changed(datapoint, changes, to),
      );
    }
  }
}

/** How many records of a key are empty, in all shards. */
async function emptyOf(
  { path, reader, isSharded }: DatasetSource,
  key: string,
  signal: AbortSignal | undefined,
): Promise<number> {
  let empty = 0;
  for (let shard = 0; shard < reader.shards; shard++) {
    const directory = isSharded ? `${path}/${shardName(shard)}` : path;
    empty += await countEmpty(`${directory}/${key}.bag`, { signal });
  }
  return empty;
}

/** Fewer records than datapoints: some have one together. Of lists that would take reading all. */
async function noteShared(
  { path, reader, isSharded }: DatasetSource,
  notes: PlanNotes,
  signal: AbortSignal | undefined,
): Promise<void> {
  if (reader.generation === 3 || isSharded) return;
  for (const key of reader.keys) {
    if (reader.spec[key]!.endsWith("[]")) continue;
    using bag = await BagReader.open(`${path}/${key}.bag`, {
      generation: reader.generation,
      cacheIndex: false,
      signal,
    });
    if (bag.length >= reader.length) continue;
    notes.changed.push(
      `'${key}': records that several datapoints share become copies`,
    );
  }
}

function requireSame(
  part: ShardedDatasetReader,
  whole: ShardedDatasetReader,
): void {
  const isSame = part.generation === whole.generation &&
    part.keys.every((key) => part.spec[key] === whole.spec[key]);
  if (isSame) return;
  throw new ConversionError(
    "cannot-convert",
    `Cannot convert ${part.path}: its generation or types are not those of the first ` +
      "shard; convert the shards one by one",
    part.path,
  );
}
