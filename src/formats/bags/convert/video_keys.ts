import { MsgpackFloat, readMsgpack } from "../../../codecs/msgpack/mod.ts";
import { formatJson } from "../../../codecs/json/format.ts";
import {
  type ExactJson,
  type JsonValue,
  parseJson,
} from "../../../codecs/json/value.ts";
import type { Datapoint } from "../read/selection.ts";
import { parseType, type SpecKey } from "../dataset/spec.ts";
import type { Decoders } from "../types/codec_types.ts";
import { assertPlainJson } from "../../../codecs/json/plain_json.ts";
import {
  ConversionError,
  type PlanNotes,
  UnfitError,
} from "../../../convert/conversion.ts";
import type { NewVideo } from "../../../convert/from/video_source.ts";
import type { DatasetSource } from "./dataset_source.ts";

const JPEG = ["jpg", "jpeg"];

/** Types whose values JSON has a form for, or may have. */
const PLAIN = ["utf8", "int", "i64", "u64", "msgpack"];

/** Which key is what of a video. */
export interface VideoKeys {
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
export function findKeys(
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

/** The id and the meta data of the video that begins with a datapoint. */
export function factsOf(
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
