import { FormatError } from "../../../errors.ts";
import { readPart } from "../../../io/read/read_part.ts";
import { runAsync } from "../../../io/concurrency/steps.ts";
import type { WritableFile } from "../../../io/write/writable_file.ts";
import type { ChunkMeta, FramePlace } from "../meta/chunk_meta.ts";
import { VideoIds } from "../ids/video_ids.ts";
import { CollectedMeta } from "../meta/collected_meta.ts";
import { duplicateId, shownId, videoError } from "./faults.ts";
import { VideoFault } from "../meta/meta_columns.ts";
import type { OpenedChunk } from "../read/opened_chunk.ts";
import { readFramePlaces } from "../read/read_frames.ts";
import { RecordOutput } from "../write/record_output.ts";

/** Frames are read together up to this many bytes. */
const BATCH = 16 << 20;

/** Frames on top of each other could make a small file a large one: no more is read than that. */
const MOST_READING = 2;

/** What is told of each thing that is left out. */
export type LeaveOut = (
  error: FormatError,
  id: string | undefined,
  frames: number,
) => void;

/** Ids of videos, and the chunk that each was taken from. */
export class KeptIds {
  readonly #ids = new VideoIds();
  readonly #metas: ChunkMeta[] = [];

  /** The chunk that has given a video with the same id, if one has. */
  find({ ids }: ChunkMeta, video: number): ChunkMeta | undefined {
    const [start, end] = [ids.starts[video]!, ids.starts[video + 1]!];
    return this.#metas[this.#ids.findBytes(ids.bytes, start, end)];
  }

  /** Notes a video, whose id is not there yet. */
  add(meta: ChunkMeta, video: number): void {
    const { bytes, starts } = meta.ids;
    this.#ids.add(bytes, starts[video]!, starts[video + 1]!);
    this.#metas.push(meta);
  }
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
  readonly #kept: KeptIds;
  readonly #options: ChunkRepairOptions;
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  #read = 0;

  /** @param kept The ids of all chunks' videos that are kept. */
  constructor(
    chunk: OpenedChunk,
    file: WritableFile,
    kept: KeptIds,
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
    const fault = meta.columns.faults[video]!;
    if (fault !== VideoFault.NONE) throw videoError(meta, video);
    const before = this.#kept.find(meta, video);
    if (before !== undefined) throw duplicateId(meta, video, before);
    const frameInfo: number[] = [];
    const faults: FormatError[] = [];
    const count = meta.columns.frameCounts[video]!;
    for (let frame = 0; frame < count;) {
      frame = await this.#copyBatch(video, frame, frameInfo, faults);
    }
    if (faults.length > 0 && frameInfo.length === 0) {
      throw allDamaged(faults[0]!, count);
    }
    const metaJson = await this.#readMetaData(video);
    if (faults.length > 0) {
      this.#options.leaveOut(faults[0]!, meta.id(video), faults.length);
    }
    this.meta.add(meta.id(video), metaJson, frameInfo);
    this.#kept.add(meta, video);
    this.frames += frameInfo.length / 3;
  }

  /** @returns The frame to go on with. */
  async #copyBatch(
    video: number,
    first: number,
    frameInfo: number[],
    faults: FormatError[],
  ): Promise<number> {
    const { meta, data, dataSize } = this.#chunk;
    const count = meta.columns.frameCounts[video]!;
    const numbers: number[] = [];
    const places: FramePlace[] = [];
    let bytes = 0;
    let next = first;
    for (; next < count && (bytes < BATCH || next === first); next++) {
      const place: FramePlace = { offset: 0, length: 0 };
      const fault = this.#locate(video, next, place);
      if (fault !== undefined) {
        this.#note(fault, faults);
        continue;
      }
      numbers.push(next);
      places.push(place);
      bytes += place.length;
    }
    this.#read += bytes;
    if (this.#read > MOST_READING * dataSize) {
      throw this.#tooMuch(video);
    }
    if (places.length === 0) return next;
    const frames = await runAsync(
      readFramePlaces(data!, places),
      this.#options.signal,
    );
    for (const [i, jpeg] of frames.entries()) {
      const what = notJpeg(jpeg);
      if (what === undefined) {
        await runAsync(
          this.#records.record(jpeg, frameInfo),
          this.#options.signal,
        );
      } else {
        const { offset } = places[i]!;
        this.#note(this.#error(video, numbers[i]!, offset, what), faults);
      }
    }
    this.#options.onProgress(Math.min(this.#read, dataSize));
    return next;
  }

  #locate(
    video: number,
    frame: number,
    place: FramePlace,
  ): FormatError | undefined {
    const { meta, dataPath, dataSize } = this.#chunk;
    try {
      meta.locate(video, frame, dataPath, dataSize, place);
      return undefined;
    } catch (error) {
      if (!(error instanceof FormatError)) throw error;
      return error;
    }
  }

  /** One damaged frame ends a video, unless its other frames are wanted. */
  #note(fault: FormatError, faults: FormatError[]): void {
    if (!this.#options.partial) throw fault;
    faults.push(fault);
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

  #error(
    video: number,
    frame: number,
    offset: number,
    what: string,
  ): FormatError {
    const { meta, dataPath } = this.#chunk;
    return new FormatError(
      "bad-frame-info",
      `${dataPath}: frame ${frame} of video ${shownId(meta.id(video))} at ` +
        `byte ${offset} ${what}`,
      { path: dataPath, offset, sample: frame },
    );
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
