import { JsonError } from "../codecs/json/scanner.ts";
import { type JsonValue, parseJsonFile } from "../codecs/json/value.ts";
import { LABEL_FILE } from "../formats/gulp/read/chunk_files.ts";
import { parseLabels } from "../formats/gulp/meta/labels.ts";
import {
  type Conversion,
  ConversionError,
  type ConvertOptions,
  PlanNotes,
  UnfitError,
} from "./conversion.ts";
import type { FileTree } from "./from/file_tree.ts";
import { type NewVideo, writeGulp } from "./to/new_gulp.ts";
import { byNumber } from "./from/number_order.ts";
import type { Source } from "./from/source.ts";
import { cutIds, idOfName, lostInFiles } from "./from/video_reader.ts";

const META = "meta.json";
const FRAME = /\.jpe?g$/i;

/** How many names a plan lists of what is left out. */
const LISTED = 3;

/** Directories of JPEGs, each a video with its `meta.json`, as the tree of GulpIO shows them. */
export async function filesToGulp(
  source: Source,
  target: string,
  options: ConvertOptions,
): Promise<Conversion> {
  const files = await source.files();
  const { videosPerChunk = 100 } = options;
  const notes = new PlanNotes();
  const facts = source.kind === "videos"
    ? planVideos(source, notes)
    : await planFiles(source, files, notes, options);
  const { total, labels, ids } = facts;
  if (labels !== undefined) parseLabels(`${source.path}/${LABEL_FILE}`, labels);
  return {
    from: source.what,
    to: "GulpIO",
    notes,
    unit: "videos",
    total,
    write: (run) => {
      const videos = videosOf(files, ids, options);
      return writeGulp(target, { videosPerChunk, labels, videos }, run);
    },
  };
}

/** What is known of the videos before they are written. */
interface VideoPlan {
  readonly total: number;
  /** Content of `label2idx.json`. */
  readonly labels: Uint8Array | undefined;
  /** Ids that names of directories do not say, by those names. */
  readonly ids: ReadonlyMap<string, string>;
}

function planVideos(
  source: Extract<Source, { kind: "videos" }>,
  notes: PlanNotes,
): VideoPlan {
  const { reader, labels, badVideos } = source;
  notes.kept.push("frames as JPEGs, ids, the order of videos, meta data");
  if (labels !== undefined) notes.kept.push(LABEL_FILE);
  notes.changed.push("videos are put into other chunks");
  notes.lost.push(...lostInFiles(source));
  return { total: reader.length - badVideos, labels, ids: cutIds(reader) };
}

async function planFiles(
  source: Source,
  files: FileTree,
  notes: PlanNotes,
  options: ConvertOptions,
): Promise<VideoPlan> {
  const { videos, hasLabels, strays } = await survey(files, options);
  if (videos === 0) {
    throw new ConversionError(
      "cannot-convert",
      `Cannot convert ${source.path} to GulpIO: that takes a directory for each video, ` +
        `ID/frame_0001.jpg and so on, with ID/${META} if there is one`,
      source.path,
    );
  }
  notes.kept.push("frames as JPEGs, in the order of their names", "meta data");
  notes.changed.push(
    "names of directories are ids",
    "names of frames are not kept",
  );
  if (strays.length > 0) {
    const more = strays.length > LISTED
      ? ` and ${strays.length - LISTED} more`
      : "";
    notes.lost.push(
      `what is no frame: ${strays.slice(0, LISTED).join(", ")}${more}`,
    );
  }
  const labels = hasLabels ? await files.read(LABEL_FILE, options) : undefined;
  return { total: videos, labels, ids: new Map() };
}

/** Looks at all names. */
async function survey(files: FileTree, options: ConvertOptions) {
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

async function* videosOf(
  files: FileTree,
  ids: VideoPlan["ids"],
  options: ConvertOptions,
): AsyncGenerator<NewVideo | UnfitError, void, undefined> {
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
    yield meta instanceof UnfitError ? meta : {
      id: ids.get(name) ?? idOfName(name),
      name: what,
      meta,
      frames: readFrames(files, path, frames.sort(byNumber), options),
    };
  }
}

async function* readFrames(
  files: FileTree,
  directory: string,
  names: readonly string[],
  options: ConvertOptions,
): AsyncGenerator<Uint8Array, void, undefined> {
  for (const name of names) {
    yield await files.read(`${directory}/${name}`, options);
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
    : new UnfitError(`${what}: its ${META} is no object`);
}
