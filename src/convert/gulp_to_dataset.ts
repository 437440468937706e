import { writeMsgpack } from "../codecs/msgpack/mod.ts";
import type { JsonValue } from "../codecs/json/value.ts";
import type { Datapoint } from "../formats/bags/datapoint.ts";
import type { Generation } from "../formats/bags/generation.ts";
import type { Spec } from "../formats/bags/spec.ts";
import { intEncoder, intOptionsOf } from "../formats/bags/types/int.ts";
import { encodeUtf8 } from "../formats/bags/types/text.ts";
import {
  type Conversion,
  type ConvertOptions,
  PlanNotes,
  type Run,
} from "./conversion.ts";
import { fitting, NewDataset } from "./new_dataset.ts";
import type { RawGulp, Source } from "./source.ts";

/** Frames of a long video that are read together. */
const FRAMES = 64;

/**
 * Videos to a dataset. In generations 1 and 2 a datapoint is a video, `{ frames, id, meta }` with a list
 * of JPEGs; in generation 3, which has no lists, a frame: `{ frame, id, image, meta }`.
 */
export async function gulpToDataset(
  { path, reader }: Extract<Source, { kind: "videos" }>,
  target: string,
  options: ConvertOptions,
): Promise<Conversion> {
  const { generation = 3, shardSize, shardLength, signal } = options;
  const notes = new PlanNotes();
  notes.kept.push("frames as JPEGs, ids, the order of videos");
  notes.changed.push(
    "meta data are msgpack: a number such as 1.0 becomes the integer 1",
    "all chunks become one sequence",
  );
  if (await reader.labels({ signal }) !== undefined) {
    notes.lost.push("label2idx.json, the numbers of labels");
  }
  const perFrame = generation === 3;
  if (perFrame) noteFrames(reader, notes);
  const jpeg = generation === 1 ? "jpeg" : "jpg"; // as bags and granular call it
  const spec: Spec = perFrame
    ? { frame: "int", id: "utf8", image: jpeg, meta: "msgpack" }
    : { frames: `${jpeg}[]`, id: "utf8", meta: "msgpack" };
  const form = { spec, generation, shardSize, shardLength };
  return {
    from: "GulpIO",
    to: `Bags, generation ${generation}`,
    notes,
    unit: "datapoints",
    total: perFrame ? undefined : reader.length,
    write: (run) =>
      NewDataset.write(target, form, run, async (dataset) => {
        for (const [id, { metaData }] of reader.mergedMetaDict) {
          const name = `the video ${JSON.stringify(id)} of ${path}`;
          if (metaData.length > 1) {
            run.leaveOut(`${name}: all but the first of its meta data`);
          }
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

function noteFrames(reader: RawGulp, notes: PlanNotes): void {
  notes.changed.push(
    "each frame is a datapoint with the id and meta data of its video: generation 3 has no lists",
  );
  let empty = 0;
  for (const { frameInfo } of reader.mergedMetaDict.values()) {
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
    meta: fitting("meta", generation, () => writeMsgpack(meta)),
  };
}

async function* framesOf(
  reader: RawGulp,
  id: string,
  { signal }: Run,
): AsyncGenerator<Uint8Array<ArrayBuffer>, void, undefined> {
  for (let start = 0;; start += FRAMES) {
    const part = { start, stop: start + FRAMES };
    const { frames } = await reader.getRaw(id, part, { signal });
    yield* frames;
    if (frames.length < FRAMES) return;
  }
}
