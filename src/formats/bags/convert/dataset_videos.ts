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
import type { Datapoint } from "../read/selection.ts";
import { decodersOf } from "../types/shipped.ts";
import type { DatasetSource } from "./dataset_source.ts";
import { labelPlace } from "./new_dataset.ts";
import { readDatapoints } from "./read_datapoints.ts";
import { factsOf, findKeys, type VideoKeys } from "./video_keys.ts";

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
  return {
    total: keys.frames.type.isList ? reader.length : undefined,
    labels: labels &&
      { path: `${path}/${labelPlace(source.isSharded)}`, bytes: labels },
    countEmpty: () => 0,
    read: (options) => readVideos(source, keys, options),
  };
}

/**
 * A video is a datapoint with a list of frames; or all datapoints in a row with the same id, whose meta data
 * are those of the first.
 */
async function* readVideos(
  { path, reader }: DatasetSource,
  keys: VideoKeys,
  options: WaitOptions,
): AsyncGenerator<NewVideo | UnfitError, void, undefined> {
  const { key, type } = keys.frames;
  const decoders = decodersOf(reader.generation, { keepFloats: true });
  const datapoints = readDatapoints(reader, options);
  let index = 0;
  let next = await datapoints.next();
  const advance = async () => {
    index++;
    next = await datapoints.next();
  };
  while (!next.done) {
    const name = `datapoint ${index} of ${path}`;
    const first = next.value;
    const id = type.isList ? undefined : idBytes(first);
    const goesOn = () => !next.done && idBytes(next.value) === id;
    const framesInRow = async function* () {
      do {
        yield (next.value as Datapoint)[key] as Uint8Array;
        await advance();
      } while (goesOn());
    };
    const start = index;
    yield unlessUnfit(name, () => ({
      ...factsOf(keys, decoders, first, index),
      name,
      frames: type.isList ? first[key] as Iterable<Uint8Array> : framesInRow(),
    }));
    // What was not taken, since the video was left out.
    if (index === start) await advance();
    while (!type.isList && goesOn()) await advance();
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
