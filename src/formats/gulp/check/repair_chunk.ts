import * as path from "node:path";
import { FormatError } from "../../../base/errors.ts";
import { ahead } from "../../../io/concurrency/ahead.ts";
import { fill, readPart } from "../../../io/read/read_part.ts";
import { SpareMemory } from "../../../io/read/spare_memory.ts";
import { runAsync } from "../../../io/concurrency/steps.ts";
import { type ChunkMeta, duplicateId } from "../meta/chunk_meta.ts";
import type { VideoIds } from "../ids/video_ids.ts";
import { shownId } from "./faults.ts";
import { OpenedChunk } from "../read/opened_chunk.ts";
import { ChunkOutput } from "../write/chunk_output.ts";
import { jpegFault } from "../write/frame_data.ts";
import { utf8Text } from "../../../base/utf8.ts";

/** Limit of bytes read, in sizes of the data file: overlapping frames could make a small file a large one. */
const MOST_READING = 2;

/** Videos copied from all chunks: their ids, and the chunk of each. */
export interface KeptVideos {
  readonly ids: VideoIds;
  readonly metas: ChunkMeta[];
}

/** Options of {@linkcode ChunkRepair}, and totals of all chunks. */
export interface ChunkRepairOptions {
  readonly into: string;
  readonly kept: KeptVideos;
  /** Whether to keep a video with damaged frames without those frames. */
  readonly partial: boolean;
  readonly report: {
    chunks: number;
    videos: number;
    frames: number;
    bytes: number;
  };
  readonly leaveOut: (error: FormatError, id: string, frames: number) => void;
  readonly signal: AbortSignal | undefined;
}

/** Copies the sound videos of a chunk, in order, to a new chunk of the same name. */
export class ChunkRepair {
  readonly #chunk: OpenedChunk;
  readonly #options: ChunkRepairOptions;
  readonly #memory = new SpareMemory();
  #read = 0;

  constructor(chunk: OpenedChunk, options: ChunkRepairOptions) {
    this.#chunk = chunk;
    this.#options = options;
  }

  /** Copies all sound videos; writes nothing without any. `onProgress` gets the bytes read, at most the file size. */
  async run(onProgress: (bytes: number) => void): Promise<void> {
    const { meta, dataPath, dataSize } = this.#chunk;
    const { into, leaveOut, report, signal } = this.#options;
    const before = report.videos;
    const place = (file: string) => path.join(into, path.basename(file));
    const target = OpenedChunk.empty(
      { dataPath: place(dataPath), metaPath: place(meta.path) },
      { serializer: "json" },
    );
    const opening = ChunkOutput.open(target, "wb", undefined);
    await using output = await runAsync(opening, signal);
    for (let video = 0; video < meta.length; video++) {
      try {
        await this.#copy(video, output);
      } catch (error) {
        if (!(error instanceof FormatError)) throw error;
        leaveOut(error, meta.id(video), meta.columns.frameCounts[video]!);
      }
      onProgress(Math.min(this.#read, dataSize));
    }
    if (report.videos === before) return;
    report.chunks++;
    report.bytes += output.bytes;
    await output.flush();
  }

  async #copy(video: number, output: ChunkOutput): Promise<void> {
    const { meta } = this.#chunk;
    const { kept: { ids, metas }, leaveOut, report, signal } = this.#options;
    const fault = meta.fault(video);
    if (fault !== undefined) throw fault;
    const before = metas[ids.findIdOf(meta.ids, video)];
    if (before !== undefined) throw duplicateId(meta, video, before);
    const id = meta.id(video);
    const metaJson = await this.#readMetaData(video);
    const faults: FormatError[] = [];
    const frames = ahead(
      this.#soundFrames(video, faults),
      ({ byteLength }) => byteLength,
      (frame) => this.#memory.giveBack(frame),
    );
    await output.append(id, metaJson, frames, { signal });
    if (faults[0] !== undefined) leaveOut(faults[0], id, faults.length);
    ids.addIdOf(meta.ids, video);
    metas.push(meta);
    report.videos++;
    report.frames += meta.columns.frameCounts[video]! - faults.length;
  }

  /** Yields sound frames; `faults` receives the others. Throws unless `partial` is set, or if all are damaged. */
  async *#soundFrames(
    video: number,
    faults: FormatError[],
  ): AsyncGenerator<Uint8Array, void> {
    const count = this.#chunk.meta.columns.frameCounts[video]!;
    for (let frame = 0; frame < count; frame++) {
      const read = await this.#readFrame(video, frame);
      if (read instanceof Uint8Array) {
        yield read;
        continue;
      }
      if (!this.#options.partial) throw read;
      faults.push(read);
    }
    if (faults.length > 0 && faults.length === count) {
      throw allDamaged(faults[0]!, count);
    }
  }

  async #readFrame(
    video: number,
    frame: number,
  ): Promise<Uint8Array | FormatError> {
    const { meta, data, dataPath, dataSize } = this.#chunk;
    const fault = meta.frameFault(video, frame, dataPath, dataSize);
    if (fault !== undefined) return fault;
    const { offset, length } = meta.place(video, frame);
    this.#read += length;
    if (this.#read > MOST_READING * dataSize) throw this.#tooMuch(video);
    const jpeg = this.#memory.take(length);
    await runAsync(fill(data!, jpeg, offset), this.#options.signal);
    const what = jpegFault(jpeg);
    if (what === undefined) return jpeg;
    return new FormatError(
      "bad-frame-info",
      `Cannot read frame ${frame} of video ${shownId(meta.id(video))} of ` +
        `${dataPath}: at byte ${offset} it ${what}`,
      { path: dataPath, offset, sample: frame },
    );
  }

  /** Returns the items of a video's meta_data as written in the file. */
  async #readMetaData(video: number): Promise<string> {
    const { text, columns } = this.#chunk.meta;
    const start = columns.metaStarts[video]!;
    const length = columns.metaListLengths[video]!;
    const bytes = await runAsync(
      readPart(text, start, length),
      this.#options.signal,
    );
    return utf8Text(bytes);
  }

  #tooMuch(video: number): FormatError {
    const { meta, dataPath } = this.#chunk;
    return new FormatError(
      "bad-frame-info",
      `Cannot read the frames up to video ${shownId(meta.id(video))} of ` +
        `${meta.path}: they have ${this.#read} bytes, far more than ` +
        `${dataPath}, so they overlap`,
      { path: meta.path },
    );
  }
}

function allDamaged(first: FormatError, count: number): FormatError {
  if (count === 1) return first;
  return new FormatError(
    first.code,
    `${first.message}. All its ${count} frames are damaged`,
    { path: first.path },
  );
}
