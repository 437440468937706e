import {
  isAboutValue,
  type PlanNotes,
  UnfitError,
} from "../../../convert/conversion.ts";
import type {
  NewVideo,
  VideoSource,
} from "../../../convert/from/video_source.ts";
import { LABEL_FILE } from "../../../convert/label_file.ts";
import type { WaitOptions } from "../../../io/storage/byte_source.ts";
import type { Datapoint } from "../read/datapoint.ts";
import { decodersOf } from "../types/shipped.ts";
import type { DatasetSource } from "./dataset_source.ts";
import { labelPlace } from "./label_place.ts";
import { readDatapoints } from "./read_datapoints.ts";
import { findKeys, VideoFacts, type VideoKeys } from "./video_keys.ts";

/**
 * The videos of a dataset: each datapoint with a list of JPEGs is one, or all datapoints in a row with the
 * same `id` and a JPEG each. `id` is the video's id, `meta` its meta data, and other plain values
 * join those.
 */
export function videosOfDataset(
  source: DatasetSource,
  notes: PlanNotes,
): VideoSource {
  const { path, reader, labels } = source;
  const keys = findKeys(source, notes);
  notes.kept.push("frames as JPEGs", "the order of videos");
  if (labels !== undefined) notes.kept.push(LABEL_FILE);
  notes.changed.push(
    `'${keys.frames.key}' is the frames of videos`,
    keys.id === undefined
      ? "ids are the numbers of datapoints"
      : `'${keys.id.key}' is the id`,
  );
  const inMeta = keys.others.map(({ key }) => `'${key}'`);
  if (inMeta.length > 0) {
    notes.changed.push(`${inMeta.join(", ")} become meta data`);
  }
  if (source.isSharded) notes.changed.push("shards become chunks");
  const isList = keys.frames.type.isList;
  return {
    total: isList ? reader.length : undefined,
    labels: labels &&
      { path: `${path}/${labelPlace(source.isSharded)}`, bytes: labels },
    countEmpty: () => 0,
    read: (options) =>
      isList
        ? videosOfLists(source, keys, options)
        : videosOfFrames(source, keys, options),
  };
}

async function* videosOfLists(
  { path, reader }: DatasetSource,
  keys: VideoKeys,
  options: WaitOptions,
): AsyncGenerator<NewVideo | UnfitError, void, undefined> {
  const facts = new VideoFacts(
    keys,
    decodersOf(reader.generation, { keepFloats: true }),
  );
  let index = 0;
  for await (const datapoint of readDatapoints(reader, options)) {
    const name = `datapoint ${index} of ${path}`;
    yield unlessUnfit(name, () => ({
      ...facts.of(datapoint, index),
      name,
      frames: datapoint[keys.frames.key] as Iterable<Uint8Array>,
    }));
    index++;
  }
}

/** Datapoints in a row with the same id; their meta data are those of the first. */
async function* videosOfFrames(
  { path, reader }: DatasetSource,
  keys: VideoKeys,
  options: WaitOptions,
): AsyncGenerator<NewVideo | UnfitError, void, undefined> {
  const facts = new VideoFacts(
    keys,
    decodersOf(reader.generation, { keepFloats: true }),
  );
  const datapoints = readDatapoints(reader, options);
  let index = 0;
  let next = await datapoints.next();
  while (!next.done) {
    const name = `datapoint ${index} of ${path}`;
    const first = next.value;
    const id = idBytes(first);
    const frames = async function* () {
      do {
        yield (next.value as Datapoint)[keys.frames.key] as Uint8Array;
        index++;
        next = await datapoints.next();
      } while (!next.done && idBytes(next.value) === id);
    };
    const video = unlessUnfit(name, () => ({
      ...facts.of(first, index),
      name,
      frames: frames(),
    }));
    const start = index;
    yield video;
    // What was not taken, since the video was left out.
    if (index === start || !next.done && idBytes(next.value) === id) {
      for await (const _frame of frames());
    }
  }
  function idBytes(datapoint: Datapoint): string {
    return (datapoint[keys.id!.key] as Uint8Array).toHex();
  }
}

function unlessUnfit(
  name: string,
  make: () => NewVideo,
): NewVideo | UnfitError {
  try {
    return make();
  } catch (error) {
    if (!isAboutValue(error)) throw error;
    return new UnfitError(`${name}: ${error.message}`, { cause: error });
  }
}
