import { readMsgpack } from "../codecs/msgpack/mod.ts";
import type { JsonValue } from "../codecs/json/value.ts";
import type { Datapoint } from "../formats/bags/datapoint.ts";
import { parseType, type SpecKey } from "../formats/bags/spec.ts";
import type { Decoder } from "../formats/bags/types/codec_types.ts";
import { decodersOf } from "../formats/bags/types/shipped.ts";
import { assertPlainJson } from "../formats/gulp/plain_json.ts";
import {
  type Conversion,
  ConversionError,
  type ConvertOptions,
  PlanNotes,
  UnfitError,
} from "./conversion.ts";
import { type NewVideo, writeGulp } from "./new_gulp.ts";
import { readDatapoints } from "./read_datapoints.ts";
import type { Source } from "./source.ts";

type DatasetSource = Extract<Source, { kind: "dataset" }>;

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
 * A dataset to videos: each datapoint with a list of JPEGs is one, or all datapoints in a row with the
 * same `id` and a JPEG each. `id` is the video's id, `meta` its meta data, and other plain values
 * join those.
 */
export function datasetToGulp(
  source: DatasetSource,
  target: string,
  options: ConvertOptions,
): Conversion {
  const { reader } = source;
  const { videosPerChunk = 100 } = options;
  const notes = new PlanNotes();
  const keys = findKeys(source, notes);
  notes.kept.push("frames as JPEGs", "the order of videos");
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
    from: `Bags, generation ${reader.generation}`,
    to: "GulpIO",
    notes,
    unit: "videos",
    total: isList ? reader.length : undefined,
    write: (run) => {
      const videos = isList
        ? videosOfLists(source, keys, options)
        : videosOfFrames(source, keys, options);
      return writeGulp(target, { videosPerChunk, videos }, run);
    },
  };
}

function findKeys(
  { path, reader }: DatasetSource,
  notes: PlanNotes,
): VideoKeys {
  const hasLists = reader.generation !== 3;
  const keys = reader.keys.map((key): SpecKey => ({
    key,
    type: parseType(reader.spec[key]!, hasLists),
  }));
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
          keys.map(({ key }) => `'${key}' (${reader.spec[key]})`).join(", ")
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
    else notes.lost.push(`'${key.key}', of type ${reader.spec[key.key]}`);
  }
  return { frames: frames[0]!, id, meta, others };
}

async function* videosOfLists(
  { path, reader }: DatasetSource,
  keys: VideoKeys,
  options: ConvertOptions,
): AsyncGenerator<NewVideo | UnfitError, void, undefined> {
  const facts = new VideoFacts(keys, decodersOf(reader.generation));
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
  const facts = new VideoFacts(keys, decodersOf(reader.generation));
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
    const { message } = error as Error;
    return new UnfitError(`${name}: ${message}`, { cause: error });
  }
}

/** Makes ids and meta data of datapoints. */
class VideoFacts {
  readonly #keys: VideoKeys;
  readonly #decoders: Readonly<Record<string, Decoder>>;

  constructor(keys: VideoKeys, decoders: Readonly<Record<string, Decoder>>) {
    this.#keys = keys;
    this.#decoders = decoders;
  }

  of(datapoint: Datapoint, index: number): Pick<NewVideo, "id" | "meta"> {
    const { id, meta, others } = this.#keys;
    const own = meta === undefined
      ? {}
      : readMsgpack(datapoint[meta.key] as Uint8Array);
    assertPlainJson(own);
    if (typeof own !== "object" || own === null || Array.isArray(own)) {
      throw new UnfitError(`its 'meta' is no map with texts as keys`);
    }
    const made = { ...own } as Record<string, JsonValue>;
    for (const key of others) {
      if (Object.hasOwn(made, key.key)) {
        throw new UnfitError(`its '${key.key}' is there in 'meta' too`);
      }
      const value = this.#value(key, datapoint);
      assertPlainJson(value);
      made[key.key] = value as JsonValue;
    }
    return {
      id: id === undefined ? `${index}` : String(this.#value(id, datapoint)),
      meta: made,
    };
  }

  #value({ key, type }: SpecKey, datapoint: Datapoint): unknown {
    const bytes = datapoint[key] as Uint8Array<ArrayBuffer>;
    return this.#decoders[type.name]!(bytes, ...type.args);
  }
}
