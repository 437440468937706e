import {
  shouldYield,
  yieldToEventLoop,
} from "../../../io/concurrency/event_loop.ts";
import { runAsync } from "../../../io/concurrency/steps.ts";
import { whenLoaded } from "../../../tree/not_loaded.ts";
import type { Bag } from "../bag/bag.ts";
import type { Shard } from "../dataset/open_shard.ts";
import { parseType, specOf, writtenSpec } from "../dataset/spec.ts";
import { LABEL_FILE } from "../../../convert/label_file.ts";
import {
  type Conversion,
  ConversionError,
  type ConvertOptions,
  PlanNotes,
  UnfitError,
} from "../../../convert/conversion.ts";
import { datasetConversion, fitting, type NewDataset } from "./new_dataset.ts";
import { readDatapoints, readShard } from "./read_datapoints.ts";
import type { DatasetSource } from "./dataset_source.ts";
import type { Datapoint } from "../read/selection.ts";
import { type Generation, mayBeEmpty } from "../dataset/dataset_names.ts";
import { changeWord, joinLists, packWord, type Raw } from "./value_types.ts";

/** Converts a dataset to one of any generation. Keeps its shards, unless the options limit them otherwise. */
export async function betweenDatasets(
  source: DatasetSource,
  target: string,
  options: ConvertOptions,
): Promise<Conversion> {
  const { path, isSharded, labels, spec: types, usedShards: shards } = source;
  const { generation: to = 3, signal } = options;
  const { generation: from } = source;
  const notes = new PlanNotes();
  notes.kept.push("values, keys, the order of datapoints");
  if (labels !== undefined) notes.kept.push(LABEL_FILE);
  for (const { shard } of shards) requireSame(shard, source);
  const emptyValues = mayBeEmpty(from) && !mayBeEmpty(to)
    ? await countEmpty(source, signal)
    : undefined;
  const changes: KeyChange[] = [];
  for (const [key, type] of Object.entries(types)) {
    const empty = emptyValues?.get(key) ?? 0;
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
    total: source.length,
    async fill(dataset: NewDataset) {
      for (const shard of shards) {
        const { path, start } = shard;
        const numbers = source.numbersIn(shard);
        await dataset.startShard();
        let at = 0;
        for await (const read of readShard(source, shard, { signal })) {
          const index = numbers === undefined ? at : numbers[at]! - start;
          at++;
          await dataset.append(`datapoint ${index} of ${path}`, () => {
            if (read instanceof UnfitError) throw read;
            return changed(read, changes);
          });
        }
      }
    },
  });
}

/** Returns the bag of a key. A shard whose writer was killed before creating all bags has none, and no datapoint. */
function bagOf({ keys, bags }: Shard, name: string): Bag | undefined {
  return bags[keys.findIndex(({ key }) => key === name)];
}

/** Number of records examined between yields to the event loop. */
const PAGE = 1 << 14;

/** Counts the empty values to convert, by key. */
async function countEmpty(
  source: DatasetSource,
  signal: AbortSignal | undefined,
): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  const add = (key: string, count: number) =>
    counts.set(key, (counts.get(key) ?? 0) + count);
  if (source.subset === undefined) {
    for (const { shard } of source.shards) {
      for (const [k, bag] of shard.bags.entries()) {
        add(shard.keys[k]!.key, await countEmptyRecords(bag, signal));
      }
    }
    return counts;
  }
  for await (const read of readDatapoints(source, { signal })) {
    if (read instanceof UnfitError) continue; // writing it reports why
    for (const [key, value] of Object.entries(read)) {
      add(key, await countEmptyIn(value));
    }
  }
  return counts;
}

/** Counts the empty values in a value: itself, or those of a list. The rest of a damaged list is not counted. */
async function countEmptyIn(value: unknown): Promise<number> {
  if (value instanceof Uint8Array) return value.length === 0 ? 1 : 0;
  let empty = 0;
  try {
    for await (const item of value as AsyncIterable<Raw>) {
      if (item.length === 0) empty++;
    }
  } catch (error) {
    if (!(error instanceof UnfitError)) throw error;
  }
  return empty;
}

async function countEmptyRecords(
  bag: Bag,
  signal: AbortSignal | undefined,
): Promise<number> {
  let empty = 0;
  let record = 0;
  // If a part of the index must be read asynchronously, counting resumes at the record that needs it.
  const countPage = () => {
    for (const end = Math.min(bag.length, record + PAGE); record < end;) {
      bag.locate(record);
      if (bag.start === bag.end) empty++;
      record++;
    }
  };
  while (record < bag.length) {
    if (shouldYield()) await yieldToEventLoop();
    signal?.throwIfAborted();
    await runAsync(whenLoaded(countPage), signal);
  }
  return empty;
}

/** Notes keys with fewer records than datapoints, which share some. For lists, all references would have to be read. */
function noteShared(
  { spec, datapoints, shards: [first] }: DatasetSource,
  notes: PlanNotes,
): void {
  const { length } = datapoints.shards;
  for (const [key, type] of Object.entries(spec)) {
    const isList = type.endsWith("[]");
    const records = bagOf(first!.shard, key)?.length ?? 0;
    if (isList || records >= length) continue;
    notes.changed.push(
      `'${key}': records that several datapoints share become copies`,
    );
  }
}

function requireSame(
  { path, generation, keys }: Shard,
  whole: DatasetSource,
): void {
  const spec = specOf(keys);
  const isSame = generation === whole.generation &&
    Object.entries(whole.spec).every(([key, type]) => spec[key] === type);
  if (isSame) return;
  throw new ConversionError(
    "cannot-convert",
    `Cannot convert ${path}: its generation or types are not those of ` +
      "the first shard. Convert the shards one by one",
    path,
  );
}

interface KeyChange {
  readonly key: string;
  readonly type: string;
  /**
   * Converts a record, or for a list an iterable of records. Throws an `UnfitError` if it has no form; a list when
   * read.
   */
  change(value: unknown): unknown;
}

/** Returns the conversion of a key, and notes changes and losses. Throws if its type has another meaning there. */
function changeKey(
  path: string,
  key: string,
  text: string,
  { from, to, empty }: {
    readonly from: Generation;
    readonly to: Generation;
    /** Number of empty values. */
    readonly empty: number;
  },
  notes: PlanNotes,
): KeyChange {
  const type = parseType(text, from !== 3);
  const { isList } = type;
  if (from === 3 && to !== 3 && text.endsWith("[]")) {
    throw new ConversionError(
      "cannot-convert",
      `Cannot convert ${path}: the type '${text}' of '${key}' would be ` +
        `that of a list in generation ${to}. Rename it in spec.json`,
      path,
    );
  }
  const note = (what: string) => notes.changed.push(`'${key}': ${what}`);
  if (isList && to === 3) {
    const list = joinLists(type, from);
    note(list.note);
    return {
      key,
      type: list.word,
      async change(value) {
        const records = await Array.fromAsync(value as Iterable<Raw>);
        return fitting(key, to, () => list.join(records));
      },
    };
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
  const { word, recode } = change;
  const recoded = (record: Raw) =>
    fitting(key, to, () => recode?.(record) ?? record);
  return isList
    ? { key, type: `${word}[]`, change: (list) => eachOf(list, recoded) }
    : { key, type: word, change: (record) => recoded(record as Raw) };
}

async function* eachOf(
  list: unknown,
  make: (record: Raw) => Uint8Array,
): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const record of list as Iterable<Raw>) yield make(record);
}

/** Converts a datapoint to another generation. Throws as {@linkcode KeyChange.change} does. */
async function changed(
  datapoint: Datapoint,
  changes: readonly KeyChange[],
): Promise<Datapoint> {
  const made: [string, unknown][] = [];
  for (const { key, change } of changes) {
    made.push([key, await change(datapoint[key])]);
  }
  return Object.fromEntries(made);
}
