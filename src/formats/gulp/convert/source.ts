import type { PlanNotes } from "../../../convert/conversion.ts";
import {
  ContainerSource,
  readIfThere,
  type SourceOptions,
} from "../../../convert/from/source.ts";
import type {
  NewVideo,
  VideoSource,
} from "../../../convert/from/video_source.ts";
import { LABEL_FILE } from "../../../convert/label_file.ts";
import type { WaitOptions } from "../../../io/storage/byte_source.ts";
import type { VirtualFs } from "../../../tree/vfs/virtual_fs.ts";
import { DIRECTORY } from "../kinds.ts";
import { parseLabels } from "../meta/labels.ts";
import {
  cutIds,
  listed,
  lostInFiles,
  lostMeta,
  metasOf,
  openChunks,
  type RawChunk,
} from "./video_reader.ts";

/** Frames of a long video that are read together. */
const FRAMES = 64;

/** Videos to be converted. */
export class GulpSource extends ContainerSource {
  override readonly folderChange = "videos are in the order of their names";
  readonly chunks: readonly RawChunk[];
  /** How many videos can't be read, and are not among the files. */
  readonly badVideos: number;
  /** Its `label2idx.json`; as a tree shows it, a chunk by itself has none. */
  readonly labels: VideoSource["labels"];

  private constructor(
    container: VirtualFs,
    chunks: readonly RawChunk[],
    labels: VideoSource["labels"],
  ) {
    const { kind, facts } = container.info;
    super(container, kind === DIRECTORY ? "GulpIO" : "a chunk of GulpIO");
    this.chunks = chunks;
    this.badVideos = facts?.["badVideos"] ?? 0;
    this.labels = labels;
  }

  static async open(
    container: VirtualFs,
    options: SourceOptions,
  ): Promise<GulpSource> {
    const { location, info } = container;
    const isDirectory = info.kind === DIRECTORY;
    const path = `${location}/${LABEL_FILE}`;
    const bytes = isDirectory ? await readIfThere(path, options) : undefined;
    const labels = bytes && { path, bytes };
    const chunks = await openChunks(location, isDirectory, options);
    return new GulpSource(container, chunks, labels);
  }

  /** How many videos there are. */
  get length(): number {
    return this.chunks.reduce((sum, { length }) => sum + length, 0);
  }

  override noteFiles(notes: PlanNotes): void {
    notes.kept.push("frames, meta data, ids, numbers of labels");
    notes.changed.push("chunks become one directory");
    this.noteContents(notes);
    const cut = [...cutIds(this.chunks).keys()];
    if (cut.length === 0) return;
    const what = `ids longer than names can be (${cut.length})`;
    notes.lost.push(`${what}, which become ${listed(cut)}`);
  }

  /** Plans count skipped videos, which warnings name. */
  override get losses(): readonly string[] {
    return [];
  }

  override noteContents(notes: PlanNotes): void {
    notes.lost.push(...lostInFiles(this.chunks, this.badVideos));
  }

  override videos({ kept, changed, lost }: PlanNotes): VideoSource {
    const { chunks, labels, path } = this;
    kept.push("frames as JPEGs, ids, the order of videos");
    changed.push("all chunks become one sequence");
    if (labels !== undefined) parseLabels(labels.path, labels.bytes);
    lost.push(...lostMeta(chunks));
    return {
      total: this.length,
      labels,
      countEmpty() {
        let empty = 0;
        for (const [, { length }] of metasOf(chunks)) {
          if (length === 0) empty++;
        }
        return empty;
      },
      async *read(options): AsyncGenerator<NewVideo, void, undefined> {
        for (const [id, { metaData }, chunk] of metasOf(chunks)) {
          yield {
            id,
            name: `the video ${JSON.stringify(id)} of ${path}`,
            meta: metaData[0] ?? {},
            frames: framesOf(chunk, id, options),
          };
        }
      },
    };
  }

  override get isTyped(): boolean {
    return true;
  }

  override close(): void {
    for (const chunk of this.chunks) chunk.close();
    super.close();
  }
}

async function* framesOf(
  chunk: RawChunk,
  id: string,
  { signal }: WaitOptions,
): AsyncGenerator<Uint8Array<ArrayBuffer>, void, undefined> {
  for (let start = 0;; start += FRAMES) {
    const part = { start, stop: start + FRAMES };
    const { frames } = await chunk.readRaw(id, part, { signal });
    yield* frames;
    if (frames.length < FRAMES) return;
  }
}
