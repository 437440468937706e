import { writeMsgpack } from "../codecs/msgpack/mod.ts";
import { formatJson } from "../codecs/json/format.ts";
import { type JsonValue, parseExactJson } from "../codecs/json/value.ts";
import type { Datapoint } from "../formats/bags/read/datapoint.ts";
import type { Generation } from "../formats/bags/dataset/generation.ts";
import type { Spec } from "../formats/bags/dataset/spec.ts";
import { intEncoder, intOptionsOf } from "../formats/bags/types/int.ts";
import { encodeUtf8 } from "../formats/bags/types/text.ts";
import { LABEL_FILE } from "../formats/gulp/read/chunk_files.ts";
import { parseLabels } from "../formats/gulp/meta/labels.ts";
import {
  type Conversion,
  type ConvertOptions,
  PlanNotes,
  type Run,
} from "./conversion.ts";
import { fitting, NewDataset } from "./to/new_dataset.ts";
import type { Source } from "./from/source.ts";
import { lostMeta, type VideoReader } from "./from/video_reader.ts";

/** Frames of a long video that are read together. */
const FRAMES = 64;

/**
 * Videos to a dataset. In generations 1 and 2 a datapoint is a video, `{ frames, id, meta }` with a list
 * of JPEGs; in generation 3, which has no lists, a frame: `{ frame, id, image, meta }`.
 */
export function gulpToDataset(
  source: Extract<Source, { kind: "videos" }>,
  target: string,
  options: ConvertOptions,
): Conversion {
  const { path, reader, labels } = source;
  const { generation = 3, shardSize, shardLength } = options;
  const notes = new PlanNotes();
  notes.kept.push("frames as JPEGs, ids, the order of videos");
  notes.changed.push(
    "meta data are msgpack",
    "all chunks become one sequence",
  );
  if (labels !== undefined) {
    parseLabels(`${path}/${LABEL_FILE}`, labels);
    notes.kept.push(`${LABEL_FILE}, beside the values`);
  }
  notes.lost.push(...lostMeta(reader));
  const perFrame = generation === 3;
  if (perFrame) noteFrames(reader, notes);
  const jpeg = generation === 1 ? "jpeg" : "jpg"; // as bags and granular call it
  const spec: Spec = perFrame
    ? { frame: "int", id: "utf8", image: jpeg, meta: "msgpack" }
    : { frames: `${jpeg}[]`, id: "utf8", meta: "msgpack" };
  const form = { spec, generation, shardSize, shardLength, labels };
  return {
    from: source.what,
    to: `Bags, generation ${generation}`,
    notes,
    unit: "datapoints",
    total: perFrame ? undefined : reader.length,
    write: (run) =>
      NewDataset.write(target, form, run, async (dataset) => {
        for (const [id, { metaData }] of reader.metas) {
          const name = `the video ${JSON.stringify(id)} of ${path}`;
          const facts = () => factsOf(id, metaData[0] ?? {}, generation);
          if (!perFrame) {
            await dataset.append(name, () => ({
              ...facts(),
              frames: framesOf(reader, id, run),
            }));
            continue;
          }
          let number = 0;
          for await (const image of framesOf(reader, id, run)) {
            const frame = intEncoder(intOptionsOf(generation))(number++);
            await dataset.append(name, () => ({ ...facts(), frame, image }));
          }
        }
      }),
  };
}

function noteFrames(reader: VideoReader, notes: PlanNotes): void {
  notes.changed.push(
    "each frame is a datapoint with the id and meta data of its video: generation 3 has no lists",
  );
  let empty = 0;
  for (const { frameInfo } of reader.metas.values()) {
    if (frameInfo[Symbol.iterator]().next().done) empty++;
  }
  if (empty > 0) notes.lost.push(`videos without frames (${empty})`);
}

function factsOf(
  id: string,
  meta: JsonValue,
  generation: Generation,
): Datapoint {
  return {
    id: fitting("id", generation, () => encodeUtf8(id)),
    meta: fitting(
      "meta",
      generation,
      () => writeMsgpack(parseExactJson(formatJson(meta))),
    ),
  };
}

async function* framesOf(
  reader: VideoReader,
  id: string,
  { signal }: Run,
): AsyncGenerator<Uint8Array<ArrayBuffer>, void, undefined> {
  for (let start = 0;; start += FRAMES) {
    const part = { start, stop: start + FRAMES };
    const { frames } = await reader.read(id, part, { signal });
    yield* frames;
    if (frames.length < FRAMES) return;
  }
}
