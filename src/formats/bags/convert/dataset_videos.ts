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
 * The videos of a dataset: each datapoint with a list of JPEGs is one, or all datapoints in a row with the
 * same `id` and a JPEG each. `id` is the video's id, `meta` its meta data, and other plain values
 * join those.
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
    total: keys.frames.type.isList ? source.length : undefined,
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
    const name = `datapoint ${index} of ${source.path}`;
    const first = next.value;
    if (first instanceof UnfitError) {
      yield first;
      await advance();
      continue;
    }
    const id = type.isList ? undefined : idBytes(first);
    const goesOn = () =>
      !next.done && !(next.value instanceof UnfitError) &&
      idBytes(next.value) === id;
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

const JPEG = ["jpg", "jpeg"];

/** Types whose values JSON has a form for, or may have. */
const PLAIN = ["utf8", "int", "i64", "u64", "msgpack"];

/** Which key is what of a video. */
interface VideoKeys {
  /** The frames: a list; or one frame, and datapoints with the same id are a video. */
  readonly frames: SpecKey;
  readonly id: SpecKey | undefined;
  /** An object that the meta data begin with. */
  readonly meta: SpecKey | undefined;
  /** Further meta data. */
  readonly others: readonly SpecKey[];
}

/**
 * Finds out which key is what; keys that are nothing of a video are noted as lost.
 *
 * @throws {ConversionError} If there are no frames.
 */
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
      `Cannot convert ${path} to GulpIO: that takes one key of type jpg[], or of type jpg ` +
        `beside an 'id', and it has ${
          keys.map(({ key }) => `'${key}' (${spec[key]})`).join(", ")
        }`,
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

/** The id and the meta data of the video that begins with a datapoint. */
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
    throw new UnfitError(`its 'meta' is no map with texts as keys`);
  }
  const made = new Map<string, ExactJson>(
    own instanceof Map ? own as never : Object.entries(own),
  );
  for (const other of others) {
    const { key } = other;
    if (made.has(key)) {
      throw new UnfitError(`its '${key}' is there in 'meta' too`);
    }
    const value = valueOf(other);
    assertPlainJson(value, true);
    made.set(key, value as ExactJson);
  }
  return {
    id: id === undefined ? `${index}` : String(valueOf(id)),
    // By way of the text, which keeps floats and the order of keys.
    meta: parseJson(formatJson(made)) as { [key: string]: JsonValue },
  };
}
