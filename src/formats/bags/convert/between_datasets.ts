import {
  shouldYield,
  yieldToEventLoop,
} from "../../../io/concurrency/event_loop.ts";
import type { Bag } from "../bag/bag.ts";
import type { Shard } from "../dataset/open_shard.ts";
import { specOf } from "../dataset/spec.ts";
import { writtenSpec } from "../write/written_spec.ts";
import { LABEL_FILE } from "../../../convert/label_file.ts";
import {
  type Conversion,
  ConversionError,
  type ConvertOptions,
  PlanNotes,
} from "../../../convert/conversion.ts";
import { changed, changeKey, type KeyChange } from "./change_key.ts";
import { datasetConversion, type NewDataset } from "./new_dataset.ts";
import { readDatapoints } from "./read_datapoints.ts";
import type { DatasetSource } from "./dataset_source.ts";

/** A dataset to one of any generation, its shards kept unless they are to end elsewhere. */
export async function betweenDatasets(
  source: DatasetSource,
  target: string,
  options: ConvertOptions,
): Promise<Conversion> {
  const { path, reader, shards, isSharded, labels } = source;
  const { generation: to = 3, signal } = options;
  const { generation: from } = reader;
  const notes = new PlanNotes();
  notes.kept.push("values, keys, the order of datapoints");
  if (labels !== undefined) notes.kept.push(LABEL_FILE);
  for (const shard of shards) requireSame(shard, reader);
  const changes: KeyChange[] = [];
  for (const key of reader.keys) {
    let empty = 0;
    if (from === 1 && to !== 1) {
      for (const shard of shards) {
        empty += await countEmpty(bagOf(shard, key), signal);
      }
    }
    const type = reader.spec[key]!;
    changes.push(changeKey(path, key, type, { from, to, empty }, notes));
  }
  const spec = Object.fromEntries(changes.map(({ key, type }) => [key, type]));
  writtenSpec(spec, to, target); // refuses what that generation's writers refuse
  if (from !== 3 && !isSharded) noteShared(source, notes);
  return datasetConversion(source, target, options, {
    spec,
    isSharded,
    labels,
    notes,
    unit: "datapoints",
    total: reader.length,
    async fill(dataset: NewDataset) {
      let first = 0;
      for (const { path, length } of shards) {
        await dataset.startShard();
        const points = readDatapoints(
          reader,
          { signal },
          first,
          first + length,
        );
        let index = 0;
        for await (const datapoint of points) {
          await dataset.append(
            `datapoint ${index++} of ${path}`,
            () => changed(datapoint, changes),
          );
        }
        first += length;
      }
    },
  });
}

function bagOf({ keys, bags }: Shard, name: string): Bag {
  return bags[keys.findIndex(({ key }) => key === name)]!;
}

/** Records that are looked at in one go. */
const PAGE = 1 << 14;

/** How many records of a bag are empty. */
async function countEmpty(
  bag: Bag,
  signal: AbortSignal | undefined,
): Promise<number> {
  let empty = 0;
  for (let record = 0; record < bag.length; record++) {
    if (record % PAGE === 0) {
      if (shouldYield()) await yieldToEventLoop();
      signal?.throwIfAborted();
    }
    bag.locate(record);
    if (bag.start === bag.end) empty++;
  }
  return empty;
}

/** Fewer records than datapoints: some have one together. Of lists that would take reading all. */
function noteShared(
  { reader, shards: [shard] }: DatasetSource,
  notes: PlanNotes,
): void {
  for (const key of reader.keys) {
    const isList = reader.spec[key]!.endsWith("[]");
    if (isList || bagOf(shard!, key).length >= reader.length) continue;
    notes.changed.push(
      `'${key}': records that several datapoints share become copies`,
    );
  }
}

function requireSame(
  { path, generation, keys }: Shard,
  whole: DatasetSource["reader"],
): void {
  const spec = specOf(keys);
  const isSame = generation === whole.generation &&
    whole.keys.every((key) => spec[key] === whole.spec[key]);
  if (isSame) return;
  throw new ConversionError(
    "cannot-convert",
    `Cannot convert ${path}: its generation or types are not those of the first ` +
      "shard; convert the shards one by one",
    path,
  );
}
