import type { Datapoint } from "../formats/bags/read/datapoint.ts";
import { decodersOf } from "../formats/bags/types/shipped.ts";
import { LABEL_FILE } from "../formats/gulp/read/chunk_files.ts";
import { parseLabels } from "../formats/gulp/meta/labels.ts";
import {
  type Conversion,
  type ConvertOptions,
  isAboutValue,
  PlanNotes,
  UnfitError,
} from "./conversion.ts";
import { labelPlace } from "./from/label_file.ts";
import { type NewVideo, writeGulp } from "./to/new_gulp.ts";
import { findKeys, VideoFacts, type VideoKeys } from "./from/video_keys.ts";
import { readDatapoints } from "./from/read_datapoints.ts";
import type { Source } from "./from/source.ts";

type DatasetSource = Extract<Source, { kind: "dataset" }>;

/**
 * A dataset to videos: each datapoint with a list of JPEGs is one, or all datapoints in a row with the
 * same `id` and a JPEG each. `id` is the video's id, `meta` its meta data, and other plain values
 * join those.
 */
export function datasetToGulp(
  source: DatasetSource,
  target: string,
  options: ConvertOptions,
): Conversion {
  const { path, reader, labels } = source;
  const { videosPerChunk = 100 } = options;
  if (labels !== undefined) {
    parseLabels(`${path}/${labelPlace(source.isSharded)}`, labels);
  }
  const notes = new PlanNotes();
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
    from: source.what,
    to: "GulpIO",
    notes,
    unit: "videos",
    total: isList ? reader.length : undefined,
    write: (run) => {
      const videos = isList
        ? videosOfLists(source, keys, options)
        : videosOfFrames(source, keys, options);
      return writeGulp(target, { videosPerChunk, labels, videos }, run);
    },
  };
}

async function* videosOfLists(
  { path, reader }: DatasetSource,
  keys: VideoKeys,
  options: ConvertOptions,
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
  options: ConvertOptions,
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
