import { BagReader } from "../formats/bags/bag_reader.ts";
import type { Datapoint } from "../formats/bags/datapoint.ts";
import type { Generation } from "../formats/bags/generation.ts";
import { shardName } from "../formats/bags/shard_names.ts";
import { ShardedDatasetReader } from "../formats/bags/sharded_dataset_reader.ts";
import { parseType } from "../formats/bags/spec.ts";
import { writtenSpec } from "../formats/bags/written_spec.ts";
import {
  type Conversion,
  ConversionError,
  type ConvertOptions,
  PlanNotes,
  type Run,
} from "./conversion.ts";
import { countEmpty } from "./empty_records.ts";
import { joinLists } from "./list_types.ts";
import { fitting, NewDataset } from "./new_dataset.ts";
import { readDatapoints } from "./read_datapoints.ts";
import type { Source } from "./source.ts";
import { changeWord, packWord, type Raw } from "./value_types.ts";

type DatasetSource = Extract<Source, { kind: "dataset" }>;

/** How the values of a key are written in another generation. */
interface KeyChange {
  readonly key: string;
  readonly type: string;
  readonly isList: boolean;
  /** Makes a record of a record. */
  readonly recode: ((bytes: Raw) => Uint8Array) | undefined;
  /** Makes a record of a list. */
  readonly join: ((records: readonly Raw[]) => Uint8Array) | undefined;
}

/** A dataset to one of any generation, its shards kept unless they are to end elsewhere. */
export async function betweenDatasets(
  source: DatasetSource,
  target: string,
  options: ConvertOptions,
): Promise<Conversion> {
  const { path, reader, isSharded } = source;
  const { generation: to = 3, shardSize, shardLength, signal } = options;
  const { generation: from } = reader;
  const notes = new PlanNotes();
  notes.kept.push("values, keys, the order of datapoints");
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
  const form = { spec, generation: to, shardSize, shardLength, keepsShards };
  return {
    from: `Bags, generation ${from}`,
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

function changeKey(
  path: string,
  key: string,
  text: string,
  { from, to, empty }: {
    readonly from: Generation;
    readonly to: Generation;
    /** How many values have no bytes. */
    readonly empty: number;
  },
  notes: PlanNotes,
): KeyChange {
  const type = parseType(text, from !== 3);
  const { isList } = type;
  if (from === 3 && to !== 3 && text.endsWith("[]")) {
    throw new ConversionError(
      "cannot-convert",
      `Cannot convert ${path}: the type '${text}' of '${key}' would be that of a list in ` +
        `generation ${to}; rename it in spec.json`,
      path,
    );
  }
  const note = (what: string) => notes.changed.push(`'${key}': ${what}`);
  if (isList && to === 3) {
    const list = joinLists(type, from);
    note(list.note);
    return { key, type: list.word, isList, recode: undefined, join: list.join };
  }
  let change = changeWord(type, from, to);
  if (empty > 0 && change.recode === undefined) {
    const packed = packWord(type);
    if (packed !== undefined) change = packed;
    else {
      notes.lost.push(
        `datapoints with an empty '${key}' (${empty} values): generation ${to} has no empty records`,
      );
    }
  }
  if (change.note !== undefined) note(change.note);
  return {
    key,
    type: isList ? `${change.word}[]` : change.word,
    isList,
    recode: change.recode,
    join: undefined,
  };
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

async function changed(
  datapoint: Datapoint,
  changes: readonly KeyChange[],
  generation: Generation,
): Promise<Datapoint> {
  const made: [string, unknown][] = [];
  for (const change of changes) {
    const { key, isList, join } = change;
    const value = datapoint[key];
    if (!isList) {
      made.push([key, changedRecord(change, value as Raw, generation)]);
    } else if (join === undefined) {
      made.push([key, changedList(change, value as Iterable<Raw>, generation)]);
    } else {
      const records = await Array.fromAsync(value as Iterable<Raw>);
      made.push([key, fitting(key, generation, () => join(records))]);
    }
  }
  return Object.fromEntries(made);
}

function changedRecord(
  { key, recode }: KeyChange,
  record: Raw,
  generation: Generation,
): Uint8Array {
  return fitting(key, generation, () => recode?.(record) ?? record);
}

async function* changedList(
  change: KeyChange,
  records: AsyncIterable<Raw> | Iterable<Raw>,
  generation: Generation,
): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const record of records) {
    yield changedRecord(change, record, generation);
  }
}
