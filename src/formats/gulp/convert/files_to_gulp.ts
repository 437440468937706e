import { JsonError } from "../../../codecs/json/scanner.ts";
import { type JsonValue, parseJsonFile } from "../../../codecs/json/value.ts";
import { LABEL_FILE } from "../../../convert/label_file.ts";
import { parseLabels } from "../meta/labels.ts";
import {
  ConversionError,
  PlanNotes,
  UnfitError,
} from "../../../convert/conversion.ts";
import type { FileTree } from "../../../convert/from/file_tree.ts";
import { writeGulp } from "./new_gulp.ts";
import { byNumber } from "../../../convert/from/number_order.ts";
import type { ConversionSource } from "../../../convert/from/source.ts";
import type {
  NewVideo,
  VideoSource,
} from "../../../convert/from/video_source.ts";
import {
  type ConversionTarget,
  DIRECTORY,
} from "../../../convert/to/target.ts";
import { ahead } from "../../../io/concurrency/ahead.ts";
import type { BatchReadOptions } from "../../../io/read/read_memory.ts";
import { SpareMemory } from "../../../io/read/spare_memory.ts";
import type { WaitOptions } from "../../../io/storage/byte_source.ts";
import { isChunkName } from "../kinds.ts";
import { idOfName } from "../ids/id_names.ts";
import { listed } from "./source.ts";

const META = "meta.json";
const FRAME = /\.jpe?g$/i;

/** Writes videos, or directories of JPEGs with a `meta.json` each, as GulpIO's tree shows them. */
export const gulpTarget: ConversionTarget = {
  options: ["videosPerChunk"],
  content: {
    what: "GulpIO chunks",
    isOwn: (name) => isChunkName(name) || name === LABEL_FILE,
  },
  form: () => DIRECTORY,
  async plan(source, target, options) {
    const { videosPerChunk = 100 } = options;
    const notes = new PlanNotes();
    const { total, labels, read } = source.videos(notes, options) ??
      await videosOfFiles(source, notes, options);
    if (labels !== undefined) parseLabels(labels.path, labels.bytes);
    return {
      from: source.what,
      to: "GulpIO",
      notes,
      unit: "videos",
      total,
      write: (run) =>
        writeGulp(target, {
          videosPerChunk,
          labels: labels?.bytes,
          videos: read(options),
        }, run),
    };
  },
};

/** Videos in directories that a tree shows. */
type ShownVideos = Omit<VideoSource, "countEmpty">;

async function videosOfFiles(
  source: ConversionSource,
  notes: PlanNotes,
  options: WaitOptions,
): Promise<ShownVideos> {
  if (source.isNumbered) {
    throw new ConversionError(
      "cannot-convert",
      `Cannot convert ${source.path} to GulpIO: samples do not say which video they are of`,
      source.path,
    );
  }
  const files = await source.files();
  const { videos, hasLabels, strays } = await survey(files, options);
  if (videos === 0) {
    throw new ConversionError(
      "cannot-convert",
      `Cannot convert ${source.path} to GulpIO: that takes a directory for each video, ` +
        `ID/frame_0001.jpg and so on, with ID/${META} if there is one`,
      source.path,
    );
  }
  notes.kept.push("frames as JPEGs, in the order of their names", "metadata");
  notes.changed.push(
    "names of directories become ids",
    "frames lose their names",
  );
  if (strays.length > 0) {
    notes.lost.push(
      `files that are not frames: ${listed(strays, (name) => name)}`,
    );
  }
  return {
    total: videos,
    labels: hasLabels
      ? {
        path: `${source.path}/${LABEL_FILE}`,
        bytes: await files.read(LABEL_FILE, options),
      }
      : undefined,
    read: (options) => videosOf(files, options),
  };
}

async function survey(files: FileTree, options: WaitOptions) {
  let videos = 0;
  let hasLabels = false;
  const strays: string[] = [];
  for await (const { path, name, depth, isDirectory } of files.walk(options)) {
    if (isDirectory && depth === 1) videos++;
    else if (!isDirectory && depth === 1 && name === LABEL_FILE) {
      hasLabels = true;
    } else if (isDirectory || depth !== 2 || !isOwn(name)) strays.push(path);
  }
  return { videos, hasLabels, strays };
}

function isOwn(name: string): boolean {
  return FRAME.test(name) || name === META;
}

/** A video without its frames; or why it cannot be written; or its next frame. */
type Part = Omit<NewVideo, "frames"> | UnfitError | Uint8Array;

/** Yields the videos. Reads files ahead across videos, however few files each has. */
async function* videosOf(
  files: FileTree,
  options: WaitOptions,
): AsyncGenerator<NewVideo | UnfitError, void, undefined> {
  const memory = new SpareMemory();
  const parts = ahead(
    partsOf(files, { ...options, memory }),
    (part) => part instanceof Uint8Array ? part.byteLength : 0,
    (part) => part instanceof Uint8Array && memory.giveBack(part),
  );
  let part = undefined as Part | void;
  const goOn = async () => {
    part = (await parts.next()).value;
  };
  const takeFrames = async function* () {
    for (; part instanceof Uint8Array; await goOn()) yield part;
  };
  try {
    await goOn();
    while (part !== undefined) {
      const video = part as Exclude<Part, Uint8Array>; // frames follow their video
      await goOn();
      yield video instanceof UnfitError
        ? video
        : { ...video, frames: takeFrames() };
      for await (const _ of takeFrames()); // frames that the caller did not read
    }
  } finally {
    await parts.return();
  }
}

async function* partsOf(
  files: FileTree,
  options: BatchReadOptions,
): AsyncGenerator<Part, void, undefined> {
  for await (const { path, name, isDirectory } of files.list("", options)) {
    if (!isDirectory) continue;
    const frames: string[] = [];
    let metaPath: string | undefined;
    for await (const entry of files.list(path, options)) {
      if (entry.isDirectory) continue;
      if (FRAME.test(entry.name)) frames.push(entry.name);
      else if (entry.name === META) metaPath = entry.path;
    }
    const what = `${files.location}/${path}`;
    const meta = metaPath === undefined
      ? {}
      : parseMeta(what, await files.read(metaPath, options));
    if (meta instanceof UnfitError) {
      yield meta;
      continue;
    }
    yield { id: idOfName(name), name: what, meta };
    for (const frame of frames.sort(byNumber)) {
      yield await files.read(`${path}/${frame}`, options);
    }
  }
}

function parseMeta(
  what: string,
  bytes: Uint8Array,
): NewVideo["meta"] | UnfitError {
  let meta: JsonValue;
  try {
    meta = parseJsonFile(bytes);
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    return new UnfitError(`${what}: its ${META} is not JSON: ${error.message}`);
  }
  return typeof meta === "object" && meta !== null && !Array.isArray(meta)
    ? meta
    : new UnfitError(`${what}: its ${META} is not an object`);
}
