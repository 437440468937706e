import { writeMsgpack } from "../../../codecs/msgpack/mod.ts";
import { formatJson } from "../../../codecs/json/format.ts";
import { type JsonValue, parseExactJson } from "../../../codecs/json/value.ts";
import type { ConversionSource } from "../../../convert/from/source.ts";
import type { VideoSource } from "../../../convert/from/video_source.ts";
import { LABEL_FILE } from "../../../convert/label_file.ts";
import type { Datapoint } from "../read/selection.ts";
import type { Generation } from "../dataset/dataset_names.ts";
import type { Spec } from "../dataset/spec.ts";
import { intEncoder, intOptionsOf } from "../types/int.ts";
import { encodeUtf8 } from "../types/text.ts";
import {
  type Conversion,
  type ConvertOptions,
  PlanNotes,
  UnfitError,
} from "../../../convert/conversion.ts";
import { datasetConversion, fitting } from "./new_dataset.ts";

/**
 * Converts videos to a dataset. In generations 1 and 2 a datapoint is a video, `{ frames, id, meta }` with a list of
 * JPEGs; in generation 3, which has no lists, it is a frame: `{ frame, id, image, meta }`. Returns `undefined` without
 * videos.
 */
export function videosToDataset(
  source: ConversionSource,
  target: string,
  options: ConvertOptions,
): Conversion | undefined {
  const { generation = 3 } = options;
  const notes = new PlanNotes();
  notes.changed.push("metadata become msgpack");
  const videos = source.videos(notes, options);
  if (videos === undefined) return undefined;
  const labels = videos.labels?.bytes;
  if (labels !== undefined) {
    notes.kept.push(`${LABEL_FILE}, next to the values`);
  }
  const perFrame = generation === 3;
  if (perFrame) noteFrames(videos, notes);
  const jpeg = generation === 1 ? "jpeg" : "jpg"; // names in bags and granular
  const spec: Spec = perFrame
    ? { frame: "int", id: "utf8", image: jpeg, meta: "msgpack" }
    : { frames: `${jpeg}[]`, id: "utf8", meta: "msgpack" };
  return datasetConversion(source, target, options, {
    spec,
    labels,
    notes,
    unit: "datapoints",
    total: perFrame ? undefined : videos.total,
    async fill(dataset, run) {
      for await (const video of videos.read({ signal: run.signal })) {
        if (video instanceof UnfitError) {
          run.leaveOut(video.message, video);
          continue;
        }
        const { id, name, meta, frames } = video;
        const facts = () => factsOf(id, meta, generation);
        if (!perFrame) {
          await dataset.append(name, () => ({ ...facts(), frames }));
          continue;
        }
        let number = 0;
        for await (const image of frames) {
          const frame = intEncoder(intOptionsOf(generation))(number++);
          await dataset.append(name, () => ({ ...facts(), frame, image }));
        }
      }
    },
  });
}

function noteFrames(videos: VideoSource, { changed, lost }: PlanNotes): void {
  changed.push(
    "each frame becomes a datapoint with the id and metadata of its video: generation 3 has no lists",
  );
  const empty = videos.countEmpty();
  if (empty > 0) lost.push(`videos without frames (${empty})`);
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
