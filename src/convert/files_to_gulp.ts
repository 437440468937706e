import { JsonError } from "../codecs/json/json_error.ts";
import { type JsonValue, parseJsonFile } from "../codecs/json/value.ts";
import { LABEL_FILE } from "../formats/gulp/chunk_files.ts";
import { nameOfId } from "../formats/gulp/id_names.ts";
import { decodeId } from "../formats/gulp/id_text.ts";
import { parseLabels } from "../formats/gulp/labels.ts";
import { byCodePoint, decodeName, encodeName } from "../names.ts";
import {
  type Conversion,
  ConversionError,
  type ConvertOptions,
  PlanNotes,
  UnfitError,
} from "./conversion.ts";
import type { FileTree } from "./file_tree.ts";
import { type NewVideo, writeGulp } from "./new_gulp.ts";
import type { Source } from "./source.ts";

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
  const { videos, hasLabels, strays } = await survey(files, options);
  if (videos === 0) {
    throw new ConversionError(
      "cannot-convert",
      `Cannot convert ${source.path} to GulpIO: that takes a directory for each video, ` +
        `ID/frame_0001.jpg and so on, with ID/${META} if there is one`,
      source.path,
    );
  }
  const notes = new PlanNotes();
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
  if (labels !== undefined) parseLabels(`${source.path}/${LABEL_FILE}`, labels);
  return {
    from: source.kind === "folder" ? "a folder" : "an FFRecord packed folder",
    to: "GulpIO",
    notes,
    unit: "videos",
    total: videos,
    write: (run) => {
      const videos = videosOf(files, options);
      return writeGulp(target, { videosPerChunk, labels, videos }, run);
    },
  };
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
  options: ConvertOptions,
): AsyncGenerator<NewVideo | UnfitError, void, undefined> {
  for await (const { path, name, isDirectory } of files.list("", options)) {
    if (!isDirectory) continue;
    const frames: string[] = [];
    let metaPath: string | undefined;
    for await (const entry of files.list(path, options)) {
      if (entry.isDirectory) continue;
      if (FRAME.test(entry.name)) frames.push(entry.path);
      else if (entry.name === META) metaPath = entry.path;
    }
    const what = `${files.location}/${path}`;
    const meta = metaPath === undefined
      ? {}
      : parseMeta(what, await files.read(metaPath, options));
    yield meta instanceof UnfitError ? meta : {
      id: idOf(name),
      name: what,
      meta,
      frames: readFrames(files, frames.sort(byFrame), options),
    };
  }
}

/** By the numbers that names end in, where they differ in no more: GulpIO's have four digits, or five. */
function byFrame(a: string, b: string): number {
  const [, before, number] = /^(.*?)(\d*)\.[^.]*$/.exec(a)!;
  const [, otherBefore, otherNumber] = /^(.*?)(\d*)\.[^.]*$/.exec(b)!;
  return byCodePoint(before!, otherBefore!) ||
    Number(number) - Number(otherNumber) || byCodePoint(a, b);
}

async function* readFrames(
  files: FileTree,
  paths: readonly string[],
  options: ConvertOptions,
): AsyncGenerator<Uint8Array, void, undefined> {
  for (const path of paths) yield await files.read(path, options);
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

/** The id that a tree would show under this name; the name itself where that is of another origin. */
function idOf(name: string): string {
  const bytes: number[] = [];
  const given = encodeName(name);
  for (let i = 0; i < given.length; i++) {
    const hex = given[i] === 0x25
      ? decodeName(given, i + 1, Math.min(given.length, i + 3))
      : "";
    if (/^[0-9A-F]{2}$/.test(hex)) {
      bytes.push(parseInt(hex, 16));
      i += 2;
    } else if (given[i] !== 0x25 || given.length > 1) bytes.push(given[i]!);
  }
  const id = Uint8Array.from(bytes);
  const shown = nameOfId(id);
  const isSame = shown.length === given.length &&
    shown.every((byte, i) => byte === given[i]);
  return isSame ? decodeId(id) : name;
}
