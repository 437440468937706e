import {
  shouldYield,
  yieldToEventLoop,
} from "../../../io/concurrency/event_loop.ts";
import {
  perform,
  runAsync,
  runSync,
  type Steps,
} from "../../../io/concurrency/steps.ts";
import { warnOfAll, warnOnConsole } from "../../../base/message_text.ts";
import {
  type ArchiveNotes,
  notedInfo,
  noteLines,
} from "../../../tree/archive/archive_notes.ts";
import type {
  Container,
  ContainerInfo,
  ContainerOptions,
  DeferredContainer,
} from "../../../tree/format.ts";
import { LOCAL_DISK } from "../../../io/storage/storage.ts";
import { whenLoaded } from "../../../tree/not_loaded.ts";
import { nameSuffix } from "../../../tree/names/numbered_names.ts";
import type { Field } from "../../../tree/samples/samples.ts";
import { openBag } from "../bag/open_bag.ts";
import { SharedFields } from "../dataset/fields.ts";
import { BagTree } from "./bag_tree.ts";
import {
  type DatasetLocation,
  locateDataset,
} from "../dataset/dataset_location.ts";
import { DatasetTree } from "./dataset_tree.ts";
import type { TreeShards } from "./tree_shards.ts";
import type { Shard } from "../dataset/open_shard.ts";
import type { FormatError } from "../../../base/errors.ts";
import {
  isShardDamage,
  lostNotes,
  type LostShard,
  lostShard,
} from "../../../tree/samples/open_shards.ts";
import { bagNotes } from "../bag/damaged_bag.ts";
import type { DecodedViews } from "./decoded_views.ts";
import { BAG } from "../dataset/dataset_names.ts";
import type { Bag } from "../bag/bag.ts";

/** A container, opened as far as serving requires. */
interface BegunContainer extends Container {
  /** Opens the rest. Throws a `FormatError` if it is damaged. */
  complete(): Steps<CompleteContainer>;
}

type CompleteContainer =
  | { readonly bag: Bag }
  | {
    readonly sources: TreeShards;
    readonly sound: readonly SoundShard[];
    readonly lost: readonly LostShard[];
    /** Fields of datapoints; `undefined` if the types of shards differ. */
    readonly fields: readonly Field[] | undefined;
  };

interface SoundShard {
  readonly path: string;
  /** Number of the shard in the tree. */
  readonly number: number;
  readonly length: number;
}

/** Opens a container for other threads to serve: of many shards, only the first. */
export async function openDeferred(
  path: string,
  options: ContainerOptions,
): Promise<DeferredContainer> {
  const views = options.decoded
    ? new (await import("./decoded_views.ts")).DecodedViews()
    : undefined;
  const begun = await runAsync(beginContainer(path, options, views));
  return {
    ...begun,
    async complete() {
      await runAsync(begun.complete());
    },
  };
}

/**
 * Opens a bag or a dataset as a tree that can be served at once. Nothing here decodes values, so a mount without
 * `views` need not load the decoders.
 */
export function* beginContainer(
  path: string,
  options: ContainerOptions,
  views: DecodedViews | undefined,
): Steps<BegunContainer> {
  const { storage = LOCAL_DISK, onWarning = warnOnConsole } = options;
  const location = yield* locateDataset(storage, path, onWarning);
  if (!("bag" in location)) {
    return yield* beginDataset(path, location, options, views);
  }
  const suffix = nameSuffix(options.ext); // may throw, so before anything is open
  const bag = yield* openBag(location.bag, { storage, onWarning });
  try {
    const tree = new BagTree(bag, suffix, storage, yield* bag.countWhole());
    const notes = yield* whenLoaded(() => tree.notes);
    warnOfAll(noteLines(notes), options.onWarning);
    const { facts, ...noted } = notedInfo(notes);
    const info = describeBag(bag);
    const odd = { facts: { ...info.facts, ...facts }, ...noted };
    return {
      tree,
      info: { ...info, ...odd },
      // deno-lint-ignore require-yield
      *complete() {
        return { bag };
      },
    };
  } catch (error) {
    bag.close();
    throw error;
  }
}

/** Opens the first sound shard. The others are opened on demand, or by `complete`. */
function* beginDataset(
  path: string,
  { isSharded, shards }: Exclude<DatasetLocation, { bag: string }>,
  options: ContainerOptions,
  views: DecodedViews | undefined,
): Steps<BegunContainer> {
  const { storage = LOCAL_DISK, onWarning = warnOnConsole } = options;
  const survey = newSurvey(isSharded);
  const tree = new DatasetTree({
    path,
    storage,
    shards: isSharded ? shards.length : undefined,
    views,
    lastNode: options.lastNode,
  });
  const notes: ArchiveNotes[] = [];
  const sound: SoundShard[] = [];
  const lost: LostShard[] = [];
  const types = new SharedFields();
  /** Adds a shard; or skips a lost one, and returns its error. */
  const add = function* (at: number): Steps<FormatError | undefined> {
    let shard: Shard;
    try {
      shard = yield* tree.sources.openShard(at, onWarning);
    } catch (error) {
      if (!isShardDamage(error) || !tree.sources.isLost(at)) throw error;
      const left = lostShard(shards[at]!, at, error);
      lost.push(left);
      notes.push(...lostNotes([left]));
      return error;
    }
    try {
      notes.push(...yield* bagNotes(shard.bags));
      const { length } = yield* tree.sources.add(at, shard);
      sound.push({ path: shards[at]!, number: at, length });
      survey.add(shard);
      types.add(shard);
      return undefined;
    } catch (error) {
      shard.close();
      throw error;
    }
  };
  const tell = () => {
    survey.note(notes);
    warnOfAll(noteLines(notes.splice(0)), onWarning);
  };
  let next = 0;
  let first: FormatError | undefined;
  for (let isSound = false; !isSound;) {
    if (first !== undefined && next === shards.length) throw first;
    const error = yield* add(next++);
    first ??= error;
    isSound = error === undefined;
  }
  tell();
  return {
    tree,
    info: survey.info,
    *complete() {
      for (let at = next; at < shards.length; at++) {
        if (storage !== LOCAL_DISK) yield* add(at);
        else yield* inOneGo(() => add(at));
        tell();
      }
      return { sources: tree.sources, sound, lost, fields: types.fields };
    },
  };
}

/**
 * Runs a procedure synchronously between turns of the event loop. Opening a shard takes many small reads, mostly from
 * memory; awaiting each takes nearly twice as long.
 */
function* inOneGo(procedure: () => Steps<unknown>): Steps<void> {
  yield* perform<unknown>({
    sync: () => runSync(procedure()),
    async async() {
      while (shouldYield()) await yieldToEventLoop();
      return runSync(procedure());
    },
  });
}

type Part = ContainerInfo["parts"][number];

/** Facts about a dataset, updated as each shard is opened. */
function newSurvey(isSharded: boolean): {
  /** Counts records that several datapoints share once. */
  readonly info: ContainerInfo;
  add(shard: Shard): void;
  note(notes: readonly ArchiveNotes[]): void;
} {
  const facts: Record<string, number> = { generation: 0, datapoints: 0 };
  const keys = new Map<string, { records: number; bytes: number }>();
  const info = {
    format: "bags",
    kind: isSharded ? "sharded dataset" : "dataset",
    files: 0,
    directories: 0,
    bytes: 0,
    facts,
    keys: [] as NonNullable<ContainerInfo["keys"]>[number][],
    parts: [] as Part[],
    unreadable: undefined as ContainerInfo["unreadable"],
  };
  const unreadable: ArchiveNotes[] = [];
  const note = (notes: readonly ArchiveNotes[]) => {
    if (notes.length === 0) return;
    unreadable.push(...notes);
    const noted = notedInfo(unreadable);
    Object.assign(facts, noted.facts);
    info.unreadable = noted.unreadable;
  };
  const add = (shard: Shard) => {
    const { path, keys: own, bags, length, generation, bytes } = shard;
    facts["generation"] = Math.max(facts["generation"]!, generation);
    facts["datapoints"]! += length;
    info.bytes += bytes;
    info.files++; // spec.json
    info.directories += length + (isSharded ? 1 : 0);
    if (isSharded) info.parts.push({ path, bytes, samples: length });
    else info.parts.push(...bags.map(partOf));
    if (isSharded) facts["shards"] = info.parts.length;
    for (const [k, { key, type }] of own.entries()) {
      const bag = bags[k];
      let count = keys.get(key);
      if (count === undefined) {
        const word = type.isList ? `${type.word}[]` : type.word;
        const known = { name: key, type: word, records: 0, bytes: 0 };
        info.keys.push(known);
        keys.set(key, count = known);
      }
      count.records += bag?.length ?? 0;
      count.bytes += bag?.dataEnd ?? 0;
      const isList = shard.isList(k);
      info.files += isList ? bag?.length ?? 0 : length;
      info.directories += isList ? length : 0;
    }
  };
  return { info, add, note };
}

function describeBag(bag: Bag): ContainerInfo {
  const part = partOf(bag);
  return {
    format: "bags",
    kind: BAG,
    files: bag.length,
    directories: 0,
    bytes: part.bytes,
    facts: { generation: bag.generation },
    parts: [part],
  };
}

function partOf({ path, bytes, length }: Bag): Part {
  return { path, bytes, samples: length };
}
