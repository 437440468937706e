import { FormatError } from "../../../errors.ts";
import { readPart } from "../../../io/read/read_part.ts";
import { runAsync } from "../../../io/concurrency/steps.ts";
import type { WritableFile } from "../../../io/write/writable_file.ts";
import type { ChunkMeta } from "../meta/chunk_meta.ts";
import type { VideoIds } from "../ids/video_ids.ts";
import { CollectedMeta } from "../meta/collected_meta.ts";
import { duplicateId, shownId } from "./faults.ts";
import type { OpenedChunk } from "../read/opened_chunk.ts";
import { RecordOutput } from "../write/record_output.ts";

/** Frames on top of each other could make a small file a large one: no more is read than that. */
const MOST_READING = 2;

/** What is told of each thing that is left out. */
export type LeaveOut = (
  error: FormatError,
  id: string | undefined,
  frames: number,
) => void;

/** The videos that were kept of all chunks: their ids, and the chunk that each was taken from. */
export interface KeptVideos {
  readonly ids: VideoIds;
  readonly metas: ChunkMeta[];
}

/** How a chunk is repaired. */
export interface ChunkRepairOptions {
  /** Whether a video with damaged frames is kept without them. */
  readonly partial: boolean;
  readonly leaveOut: LeaveOut;
  /** Told how many bytes of the data file were read, some more than once. */
  readonly onProgress: (bytes: number) => void;
  readonly signal: AbortSignal | undefined;
}

/** Copies the sound videos of a chunk, in their order, to a new data file. */
export class ChunkRepair {
  readonly meta = CollectedMeta.empty("json");
  /** How many frames were kept. */
  frames = 0;
  readonly #chunk: OpenedChunk;
  readonly #records: RecordOutput;
  readonly #kept: KeptVideos;
  readonly #options: ChunkRepairOptions;
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  #read = 0;

  constructor(
    chunk: OpenedChunk,
    file: WritableFile,
    kept: KeptVideos,
    options: ChunkRepairOptions,
  ) {
    this.#chunk = chunk;
    this.#records = new RecordOutput(file, 0);
    this.#kept = kept;
    this.#options = options;
  }

  /** Where the new data file ends. */
  get end(): number {
    return this.#records.end;
  }

  /** Copies all sound videos. */
  async run(): Promise<void> {
    const { meta } = this.#chunk;
    for (let video = 0; video < meta.length; video++) {
      const start = this.end;
      try {
        await this.#copy(video);
      } catch (error) {
        if (!(error instanceof FormatError)) throw error;
        this.#records.takeBack(start); // the next video takes the place
        const frames = meta.columns.frameCounts[video]!;
        this.#options.leaveOut(error, meta.id(video), frames);
      }
    }
    await runAsync(this.#records.finish(), this.#options.signal);
  }

  async #copy(video: number): Promise<void> {
    const { meta } = this.#chunk;
    const fault = meta.fault(video);
    if (fault !== undefined) throw fault;
    const { ids, metas } = this.#kept;
    const before = metas[ids.findIdOf(meta.ids, video)];
    if (before !== undefined) throw duplicateId(meta, video, before);
    const frameInfo: number[] = [];
    const faults: FormatError[] = [];
    const count = meta.columns.frameCounts[video]!;
    for (let frame = 0; frame < count; frame++) {
      const fault = await this.#copyFrame(video, frame, frameInfo);
      if (fault === undefined) continue;
      // One damaged frame ends a video, unless its other frames are wanted.
      if (!this.#options.partial) throw fault;
      faults.push(fault);
    }
    this.#options.onProgress(Math.min(this.#read, this.#chunk.dataSize));
    if (faults.length > 0 && frameInfo.length === 0) {
      throw allDamaged(faults[0]!, count);
    }
    const metaJson = await this.#readMetaData(video);
    if (faults.length > 0) {
      this.#options.leaveOut(faults[0]!, meta.id(video), faults.length);
    }
    this.meta.add(meta.id(video), metaJson, frameInfo);
    ids.addIdOf(meta.ids, video);
    metas.push(meta);
    this.frames += frameInfo.length / 3;
  }

  /** @returns What is wrong with the frame, if anything. */
  async #copyFrame(
    video: number,
    frame: number,
    frameInfo: number[],
  ): Promise<FormatError | undefined> {
    const { meta, data, dataPath, dataSize } = this.#chunk;
    const { signal } = this.#options;
    const fault = meta.frameFault(video, frame, dataPath, dataSize);
    if (fault !== undefined) return fault;
    const { offset, length } = meta.place(video, frame);
    this.#read += length;
    if (this.#read > MOST_READING * dataSize) throw this.#tooMuch(video);
    const jpeg = await runAsync(readPart(data!, offset, length), signal);
    const what = notJpeg(jpeg);
    if (what === undefined) {
      await runAsync(this.#records.record(jpeg, frameInfo), signal);
      return undefined;
    }
    return new FormatError(
      "bad-frame-info",
      `${dataPath}: frame ${frame} of video ${shownId(meta.id(video))} at ` +
        `byte ${offset} ${what}`,
      { path: dataPath, offset, sample: frame },
    );
  }

  /** The items of a video's meta_data, as they stand in the file. */
  async #readMetaData(video: number): Promise<string> {
    const { text, columns } = this.#chunk.meta;
    const start = columns.metaStarts[video]!;
    const length = columns.metaListLengths[video]!;
    const bytes = await runAsync(
      readPart(text, start, length),
      this.#options.signal,
    );
    return this.#decoder.decode(bytes);
  }

  #tooMuch(video: number): FormatError {
    const { meta, dataPath } = this.#chunk;
    return new FormatError(
      "bad-frame-info",
      `${meta.path}: the frames up to video ${shownId(meta.id(video))} have ` +
        `${this.#read} bytes, far more than ${dataPath}: they lie on top of ` +
        `each other`,
      { path: meta.path },
    );
  }
}

/** What keeps bytes from being a JPEG, if anything. */
function notJpeg(bytes: Uint8Array): string | undefined {
  if (bytes.length < 4) return "is too short for a JPEG";
  if (bytes[0] !== 0xff || bytes[1] !== 0xd8) return "does not start as a JPEG";
  if (bytes.at(-2) !== 0xff || bytes.at(-1) !== 0xd9) {
    return "does not end as a JPEG";
  }
  return undefined;
}

function allDamaged(first: FormatError, count: number): FormatError {
  if (count === 1) return first;
  return new FormatError(
    first.code,
    `${first.message}; and so on with all its ${count} frames`,
    { path: first.path },
  );
}
