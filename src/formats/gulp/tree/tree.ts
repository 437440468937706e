import { RecordfsError } from "../../../base/errors.ts";
import type { ByteSource } from "../../../io/storage/byte_source.ts";
import type { NodeView } from "../../../tree/node_view.ts";
import {
  NameTable,
  type NameTableColumns,
} from "../../../tree/names/name_table.ts";
import {
  type NumberedNames,
  numberedNames,
} from "../../../tree/names/numbered_names.ts";
import { firstFrom } from "../../../tree/shared_numbers.ts";
import {
  type EntryVisitor,
  type Extent,
  newExtent,
  type NodeId,
  type NodeStat,
  placeUnchecked,
  ROOT,
  type SampleNodes,
  type SampleRun,
  type Tree,
  type TreeHandle,
} from "../../../tree/tree.ts";
import type { MetaColumns } from "../meta/meta_columns.ts";

/** Tables of a tree, which threads share. */
export interface GulpTreeTables {
  readonly chunks: readonly MetaColumns[];
  /** Names of the root's entries in node order: the label file, if there is one, and the videos shown. */
  readonly names: NameTableColumns;
  /** Per video shown: its chunk. */
  readonly chunkOf: Uint32Array;
  /** Per video shown: its number in that chunk. */
  readonly videoOf: Uint32Array;
  /** Per video shown: number of files in the videos before it; then the number of all. */
  readonly filesBefore: Float64Array;
  /** Size of the label file in bytes, or -1 if there is none. */
  readonly labelSize: number;
  /** Last modification of the newest file, in milliseconds since 1970. */
  readonly mtime: number;
}

const META = "meta.json";
const META_NAME = new TextEncoder().encode(META);
const FRAME_PREFIX = new TextEncoder().encode("frame_");
/** Minimum digits of a frame's number: ffmpeg's `%04d`, and `%05d` if a video has 10,000 frames. */
const FRAME_DIGITS = 4;

/** Node of the label file, if there is one. */
const LABELS: NodeId = ROOT + 1;

/**
 * Videos as directories, `ID/frame_0001.jpg` … and `ID/meta.json`, and `label2idx.json` next to them. Frame names of a
 * video with 10,000 or more frames are as wide as its last number.
 *
 * Node ids: the root, the label file if there is one, the videos in order, then the files of each video: its frames,
 * then its meta. Sources: the data files of the chunks, then the meta text of each, then the label file.
 */
export class GulpTree implements Tree {
  readonly sources: readonly ByteSource[];
  readonly #tables: GulpTreeTables;
  readonly #names: NameTable;
  readonly #videoCount: number;
  readonly #hasLabels: boolean;
  readonly #firstVideo: NodeId;
  readonly #firstFile: NodeId;
  readonly #name = new Uint8Array(64);
  readonly #extent = newExtent();

  constructor(tables: GulpTreeTables, sources: readonly ByteSource[]) {
    this.#tables = tables;
    this.sources = sources;
    this.#names = new NameTable(tables.names);
    this.#videoCount = tables.videoOf.length;
    this.#hasLabels = tables.labelSize >= 0;
    this.#firstVideo = this.#hasLabels ? LABELS + 1 : ROOT + 1;
    this.#firstFile = this.#firstVideo + this.#videoCount;
    this.#name.set(FRAME_PREFIX);
  }

  get nodeCount(): number {
    return this.#firstFile - 1 + this.#tables.filesBefore[this.#videoCount]!;
  }

  lookup(
    parent: NodeId,
    name: Uint8Array,
    start: number,
    end: number,
  ): NodeId {
    return parent === ROOT
      ? this.#names.lookup(ROOT, name, start, end)
      : this.#lookupFile(parent, name, start, end);
  }

  parent(node: NodeId): NodeId {
    const video = this.#videoOfFile(node);
    return video < 0 ? ROOT : this.#firstVideo + video;
  }

  isDirectory(node: NodeId): boolean {
    return node === ROOT || this.#video(node) >= 0;
  }

  list(dir: NodeId, cursor: number, visit: EntryVisitor): void {
    if (dir === ROOT) return this.#names.list(ROOT, cursor, visit);
    const video = this.#video(dir);
    if (video < 0) return;
    const first = this.#firstFile + this.#tables.filesBefore[video]!;
    const frames = this.#frameCount(video);
    const names = frameNames(frames);
    for (let i = cursor; i < frames; i++) {
      const end = this.#writeFrameName(names, i);
      if (!visit(this.#name, 0, end, first + i, i + 1)) return;
    }
    if (cursor > frames) return;
    visit(META_NAME, 0, META_NAME.length, first + frames, frames + 1);
  }

  stat(node: NodeId, into: NodeStat): boolean {
    into.mtime = this.#tables.mtime;
    into.isDirectory = this.isDirectory(node);
    into.size = 0;
    if (into.isDirectory) return true;
    if (!this.locate(node, this.#extent)) return false;
    into.size = this.#extent.length;
    return true;
  }

  locate(node: NodeId, into: Extent): boolean {
    const { chunks, chunkOf, videoOf, filesBefore, labelSize } = this.#tables;
    placeUnchecked(into);
    into.bytes = undefined;
    if (node === LABELS && this.#hasLabels) {
      into.source = 2 * chunks.length;
      into.offset = 0;
      into.length = labelSize;
      return true;
    }
    const shown = this.#videoOfFile(node);
    if (shown < 0) return false;
    const chunk = chunkOf[shown]!;
    const video = videoOf[shown]!;
    const columns = chunks[chunk]!;
    const file = node - this.#firstFile - filesBefore[shown]!;
    if (file === columns.frameCounts[video]) {
      into.source = chunks.length + chunk;
      into.offset = columns.metaStarts[video]!;
      into.length = columns.metaLengths[video]!;
      return true;
    }
    const row = columns.firstFrames[video]! + file;
    into.source = chunk;
    into.offset = columns.offsets[row]!;
    into.length = columns.lengths[row]! - columns.pads[row]!;
    return true;
  }

  /** Returns the videos of all chunks; skipped ones keep their numbers, as in a directory that is read. */
  samples(): SampleNodes {
    const runs = videoRuns(this.#tables, this.#firstVideo);
    return { areDirectories: true, runs };
  }

  view(node: NodeId): NodeView | undefined {
    const video = this.#video(node);
    return video < 0
      ? undefined
      : { kind: "clip", frames: this.#frameCount(video), meta: META };
  }

  nameOf(node: NodeId, into: Uint8Array): number {
    return node < this.#firstFile ? this.#names.nameOf(node, into) : 0;
  }

  share(): TreeHandle {
    return { module: import.meta.url, data: this.#tables };
  }

  close(): void {
    for (const source of this.sources) source.close();
  }

  #lookupFile(
    parent: NodeId,
    name: Uint8Array,
    start: number,
    end: number,
  ): NodeId {
    const video = this.#video(parent);
    if (video < 0) return 0;
    const first = this.#firstFile + this.#tables.filesBefore[video]!;
    const frames = this.#frameCount(video);
    if (isName(META_NAME, name, start, end)) return first + frames;
    const digits = start + FRAME_PREFIX.length;
    if (digits > end || !isName(FRAME_PREFIX, name, start, digits)) return 0;
    const number = frameNames(frames).parse(name, digits, end);
    return number >= 1 && number <= frames ? first + number - 1 : 0;
  }

  #writeFrameName(names: NumberedNames, frame: number): number {
    const prefix = FRAME_PREFIX.length;
    const digits = this.#name.subarray(prefix);
    return prefix + names.write(frame + 1, digits);
  }

  /** Returns the index of the video that a directory shows, or -1. */
  #video(node: NodeId): number {
    const video = node - this.#firstVideo;
    const isVideo = Number.isInteger(video) && video >= 0 &&
      video < this.#videoCount;
    return isVideo ? video : -1;
  }

  /** Returns the index of the video that contains a file, or -1. */
  #videoOfFile(node: NodeId): number {
    const file = node - this.#firstFile;
    if (!Number.isInteger(file) || file < 0) return -1;
    const { filesBefore } = this.#tables;
    if (file >= filesBefore[this.#videoCount]!) return -1;
    return firstFrom(filesBefore, file + 1) - 1;
  }

  #frameCount(shown: number): number {
    const { chunks, chunkOf, videoOf } = this.#tables;
    return chunks[chunkOf[shown]!]!.frameCounts[videoOf[shown]!]!;
  }
}

/** Names of a video's frames, counted from 1: all as wide as the last, so that they sort. */
function frameNames(frames: number): NumberedNames {
  return numberedNames(frames + 1, ".jpg", FRAME_DIGITS);
}

/** Yields the videos of all chunks in order: those shown, and runs of skipped ones. */
function* videoRuns(
  { chunks, chunkOf, videoOf }: GulpTreeTables,
  firstVideo: NodeId,
): Generator<SampleRun, void, undefined> {
  let shown = 0;
  for (const [chunk, { frameCounts }] of chunks.entries()) {
    for (let video = 0; video < frameCounts.length;) {
      const next = chunkOf[shown] === chunk
        ? videoOf[shown]!
        : frameCounts.length;
      yield { first: 0, stride: 0, count: next - video };
      video = next;
      const from = shown;
      while (chunkOf[shown] === chunk && videoOf[shown] === video) {
        shown++;
        video++;
      }
      yield { first: firstVideo + from, stride: 1, count: shown - from };
    }
  }
}

function isName(
  known: Uint8Array,
  name: Uint8Array,
  start: number,
  end: number,
): boolean {
  if (end - start !== known.length) return false;
  for (let i = 0; i < known.length; i++) {
    if (name[start + i] !== known[i]) return false;
  }
  return true;
}

/** Rebuilds a shared tree in another thread, over the same tables, without sources. */
export function reopenTree(data: unknown): Tree {
  const tables = data as GulpTreeTables;
  if (tables.filesBefore instanceof Float64Array) {
    return new GulpTree(tables, []);
  }
  throw new RecordfsError("bad-handle", "Not a handle of a GulpIO tree");
}
