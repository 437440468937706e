import {
  ConversionError,
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
import { type Decoders, decodersOf } from "../types/shipped.ts";
import type { DatasetSource } from "./dataset_source.ts";
import { labelPlace } from "./new_dataset.ts";
import { readDatapoints } from "./read_datapoints.ts";
import { MsgpackFloat, readMsgpack } from "../../../codecs/msgpack/mod.ts";
import { formatJson } from "../../../codecs/json/format.ts";
import {
  type ExactJson,
  type JsonValue,
  parseJson,
} from "../../../codecs/json/value.ts";
import type { SpecKey } from "../dataset/spec.ts";
import { assertPlainJson } from "../../../codecs/json/plain_json.ts";

/**
 * Returns the videos of a dataset. A video is a datapoint with a list of JPEGs, or consecutive datapoints with the same
 * `id` and one JPEG each. `id` is the video's id and `meta` its metadata; other plain values are added to the metadata.
 */
export function videosOfDataset(
  source: DatasetSource,
  notes: PlanNotes,
): VideoSource {
  const { path, labels } = source;
  const keys = findKeys(source, notes);
  notes.kept.push("frames as JPEGs", "the order of videos");
  if (labels !== undefined) notes.kept.push(LABEL_FILE);
  notes.changed.push(
    `'${keys.frames.key}' becomes the frames of videos`,
    keys.id === undefined
      ? "the numbers of datapoints become ids"
      : `'${keys.id.key}' becomes the id`,
  );
  const inMeta = keys.others.map(({ key }) => `'${key}'`);
  if (inMeta.length > 0) {
    notes.changed.push(`${inMeta.join(", ")} become meta data`);
  }
  if (source.isSharded) notes.changed.push("shards become chunks");
  return {
    total: keys.frames.type.isList ? source.length : undefined,
    labels: labels &&
      { path: `${path}/${labelPlace(source.isSharded)}`, bytes: labels },
    countEmpty: () => 0,
    read: (options) => readVideos(source, keys, options),
  };
}

/** Yields videos; consecutive datapoints with the same id have the metadata of the first. */
async function* readVideos(
  source: DatasetSource,
  keys: VideoKeys,
  options: WaitOptions,
): AsyncGenerator<NewVideo | UnfitError, void, undefined> {
  const { key, type } = keys.frames;
  const decoders = decodersOf(source.generation, { keepFloats: true });
  const datapoints = readDatapoints(source, options);
  let index = 0;
  let next = await datapoints.next();
  const advance = async () => {
    index++;
    next = await datapoints.next();
  };
  while (!next.done) {
    const number = source.numberAt(index);
    const name = `datapoint ${number} of ${source.path}`;
    const first = next.value;
    if (first instanceof UnfitError) {
      yield first;
      await advance();
      continue;
    }
    const id = type.isList ? undefined : idBytes(first);
    const isSequential = () =>
      !next.done && !(next.value instanceof UnfitError) &&
      idBytes(next.value) === id;
    const framesInRow = async function* () {
      do {
        yield (next.value as Datapoint)[key] as Uint8Array;
        await advance();
      } while (isSequential());
    };
    const start = index;
    yield unlessUnfit(name, () => ({
      ...factsOf(keys, decoders, first, number),
      name,
      frames: type.isList ? first[key] as Iterable<Uint8Array> : framesInRow(),
    }));
    // Skips datapoints that were not consumed because the video was skipped.
    if (index === start) await advance();
    while (!type.isList && isSequential()) await advance();
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

const JPEG = ["jpg", "jpeg"];

/** Types whose values JSON can express, at least some of them. */
const PLAIN = ["utf8", "int", "i64", "u64", "msgpack"];

/** Roles of keys in a video. */
interface VideoKeys {
  /** Frames: a list; or one frame per datapoint, where datapoints with the same id are one video. */
  readonly frames: SpecKey;
  readonly id: SpecKey | undefined;
  /** Object that the metadata start from. */
  readonly meta: SpecKey | undefined;
  readonly others: readonly SpecKey[];
}

/** Determines the roles of keys; notes keys without a role as lost. Throws if there are no frames. */
function findKeys(
  { path, spec, shards }: DatasetSource,
  notes: PlanNotes,
): VideoKeys {
  const { keys } = shards[0]!.shard;
  const single = (name: string, words: readonly string[]) =>
    keys.find(({ key, type }) =>
      key === name && !type.isList && words.includes(type.name)
    );
  const images = keys.filter(({ type }) => JPEG.includes(type.name));
  const lists = images.filter(({ type }) => type.isList);
  const id = single("id", ["utf8", "int", "i64", "u64"]);
  const frames = lists.length > 0 ? lists : id === undefined ? [] : images;
  if (frames.length !== 1) {
    throw new ConversionError(
      "cannot-convert",
      `Cannot convert ${path} to GulpIO: that takes one key of type ` +
        "jpg[], or of type jpg next to an 'id', and it has " +
        `${keys.map(({ key }) => `'${key}' (${spec[key]})`).join(", ")}`,
      path,
    );
  }
  const meta = single("meta", ["msgpack"]);
  const others: SpecKey[] = [];
  for (const key of keys) {
    if ([frames[0], id, meta].includes(key)) continue;
    if (!lists.length && key.key === "frame" && key.type.name === "int") {
      continue;
    }
    const isPlain = !key.type.isList && PLAIN.includes(key.type.name);
    if (isPlain) others.push(key);
    else notes.lost.push(`'${key.key}', of type ${spec[key.key]}`);
  }
  return { frames: frames[0]!, id, meta, others };
}

function factsOf(
  { id, meta, others }: VideoKeys,
  decoders: Decoders,
  datapoint: Datapoint,
  index: number,
): Pick<NewVideo, "id" | "meta"> {
  const valueOf = ({ key, type }: SpecKey) => {
    const bytes = datapoint[key] as Uint8Array<ArrayBuffer>;
    return decoders[type.name]!(bytes, ...type.args);
  };
  const own = meta === undefined
    ? {}
    : readMsgpack(datapoint[meta.key] as Uint8Array, { keepFloats: true });
  assertPlainJson(own, true);
  const isMap = typeof own === "object" && own !== null &&
    !Array.isArray(own) && !(own instanceof MsgpackFloat);
  if (!isMap) {
    throw new UnfitError(`its 'meta' is not a map with texts as keys`);
  }
  const made = new Map<string, ExactJson>(
    own instanceof Map ? own as never : Object.entries(own),
  );
  for (const other of others) {
    const { key } = other;
    if (made.has(key)) {
      throw new UnfitError(`its '${key}' is in 'meta' too`);
    }
    const value = valueOf(other);
    assertPlainJson(value, true);
    made.set(key, value as ExactJson);
  }
  return {
    id: id === undefined ? `${index}` : String(valueOf(id)),
    // Converted through text, which keeps floats and the order of keys.
    meta: parseJson(formatJson(made)) as { [key: string]: JsonValue },
  };
}
