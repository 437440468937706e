import { basename } from "node:path";
import { jsonItems } from "../../../codecs/json/parts.ts";
import { type JsonValue, parseJson } from "../../../codecs/json/value.ts";
import { FormatError, type FormatErrorCode } from "../../../base/errors.ts";
import type { ByteSource } from "../../../io/storage/byte_source.ts";
import type { KnownFile } from "../../../io/storage/changed_file.ts";
import { MemorySource } from "../../../io/storage/memory_source.ts";
import { readPart } from "../../../io/read/read_part.ts";
import type { Steps } from "../../../io/concurrency/steps.ts";
import { sharedBytes } from "../../../tree/shared_numbers.ts";
import { shownId } from "../check/faults.ts";
import {
  FrameFault,
  type MetaColumns,
  type MetaRead,
  VideoFault,
} from "./meta_columns.ts";
import { type IdColumns, VideoIds } from "../ids/video_ids.ts";
import { utf8Text } from "../../../base/utf8.ts";

/** Where a frame's JPEG lies, without its padding. */
export interface FramePlace {
  readonly offset: number;
  readonly length: number;
}

/** The first item of a video's meta_data. */
export type VideoFields = { [key: string]: JsonValue };

/** What another thread makes a {@linkcode ChunkMeta} of: plain data, and tables in shared memory. */
export interface SharedMeta extends KnownFile {
  readonly columns: MetaColumns;
  readonly ids: IdColumns;
  /** The text of meta_data where it is in memory, and not read from the file. */
  readonly text: Uint8Array | undefined;
}

/**
 * What one chunk's `.gmeta` says. Videos are numbered in the order of the file, from 0.
 *
 * meta_data is not kept: it is read again from the file, or from memory where the file is no JSON.
 */
export class ChunkMeta {
  /** Path of the `.gmeta` file. */
  readonly path: string;
  /** Size of that file in bytes. */
  readonly size: number;
  readonly columns: MetaColumns;
  readonly ids: VideoIds;
  /** The JSON in which the places of meta_data lie. */
  readonly text: ByteSource;

  constructor(
    path: string,
    size: number,
    { columns, ids }: MetaRead,
    text: ByteSource,
  ) {
    this.path = path;
    this.size = size;
    this.columns = columns;
    this.ids = ids;
    this.text = text;
  }

  /**
   * Takes what another thread has read.
   *
   * @param file The file, where meta_data are read from it.
   */
  static reopen(
    { path, size, mtime, columns, ids, text }: SharedMeta,
    file: ByteSource | undefined,
  ): ChunkMeta {
    const source = file ?? new MemorySource(text!, path, mtime);
    const read = { columns, ids: VideoIds.of(ids) };
    return new ChunkMeta(path, size, read, source);
  }

  /** Describes it for other threads. */
  share(): SharedMeta {
    const { path, size, columns, ids: { bytes, starts }, text } = this;
    return {
      path,
      size,
      mtime: text.mtime,
      columns,
      ids: { bytes, starts },
      text: text instanceof MemorySource ? sharedBytes(text.bytes) : undefined,
    };
  }

  /** How many videos there are. */
  get length(): number {
    return this.columns.faults.length;
  }

  /** How many frames all videos have. */
  get frameCount(): number {
    return this.columns.frameCounts.reduce((sum, count) => sum + count, 0);
  }

  /** The id of a video. */
  id(video: number): string {
    return this.ids.id(video);
  }

  /** The video of an id, or -1. */
  find(id: string): number {
    return this.ids.find(id);
  }

  /** Where a frame's JPEG lies, if it lies anywhere. */
  place(video: number, frame: number): FramePlace {
    const { offsets, lengths, pads, firstFrames } = this.columns;
    const row = firstFrames[video]! + frame;
    return { offset: offsets[row]!, length: lengths[row]! - pads[row]! };
  }

  /**
   * What keeps a frame from being read, if anything.
   *
   * @param frame From 0 to the video's number of frames - 1.
   * @param dataPath The data file, for messages.
   * @param dataSize Its size in bytes.
   */
  frameFault(
    video: number,
    frame: number,
    dataPath: string,
    dataSize: number,
  ): FormatError | undefined {
    const { offsets, lengths, pads, firstFrames } = this.columns;
    const row = firstFrames[video]! + frame;
    const end = offsets[row]! + lengths[row]! - pads[row]!;
    // Padding that is missing at the end of the file leaves the frame whole.
    const isThere = offsets[row]! >= 0 && end <= dataSize;
    return isThere
      ? undefined
      : frameError(this, video, frame, dataPath, dataSize);
  }

  /** What is wrong with a video as a whole, if anything. */
  fault(video: number): FormatError | undefined {
    const found = VIDEO_FAULTS.get(this.columns.faults[video]!);
    if (found === undefined) return undefined;
    const [code, what] = found;
    return new FormatError(
      code,
      `${this.path}: video ${shownId(this.id(video))} cannot be read: ${what}`,
      { path: this.path },
    );
  }

  /**
   * Reads the first item of a video's meta_data.
   *
   * @throws {FormatError} If the video has none, or the file was changed.
   */
  *readMeta(video: number): Steps<VideoFields> {
    const { offset, length } = this.metaPlace(video);
    return this.parseMeta(video, yield* readPart(this.text, offset, length));
  }

  /**
   * Where the first item of a video's meta_data lies in the text.
   *
   * @throws {FormatError} If the video has none.
   */
  metaPlace(video: number): FramePlace {
    const { faults, metaStarts, metaLengths } = this.columns;
    if (faults[video] === VideoFault.NO_META_DATA) throw this.fault(video)!;
    return { offset: metaStarts[video]!, length: metaLengths[video]! };
  }

  /**
   * The first item of a video's meta_data.
   *
   * @throws {FormatError} If the file was changed.
   */
  parseMeta(video: number, bytes: Uint8Array): VideoFields {
    return this.#parse(video, bytes, parseJson) as VideoFields;
  }

  /** Says that {@linkcode ChunkMeta.readMeta} will be asked soon: what it has to fetch is fetched. */
  expectMeta(video: number): void {
    const { metaStarts, metaLengths } = this.columns;
    this.text.expect?.(metaStarts[video]!, metaLengths[video]!);
  }

  /** Reads all items of a video's meta_data: one for each time that it was appended. */
  *readMetaData(video: number): Steps<JsonValue[]> {
    const { metaStarts, metaListLengths, metaCounts } = this.columns;
    if (metaCounts[video] === 0) return [];
    const [start, length] = [metaStarts[video]!, metaListLengths[video]!];
    const bytes = yield* readPart(this.text, start, length);
    return this.#parse(
      video,
      bytes,
      (text) => jsonItems(`[${text}]`)!.map(parseJson),
    );
  }

  /** Lets go of the file. */
  close(): void {
    this.text.close();
  }

  #parse<Value>(
    video: number,
    bytes: Uint8Array,
    parse: (text: string) => Value,
  ): Value {
    const text = utf8Text(bytes);
    try {
      return parse(text);
    } catch (cause) {
      const start = this.columns.metaStarts[video]!;
      throw new FormatError(
        "bad-meta",
        `${this.path}: the meta_data at byte ${start} cannot be read: ` +
          (cause as Error).message,
        { path: this.path, offset: start, cause },
      );
    }
  }
}

/** What is wrong with videos, by the numbers in their column. */
const VIDEO_FAULTS: ReadonlyMap<number, readonly [FormatErrorCode, string]> =
  new Map([
    [VideoFault.NO_OBJECT, ["bad-meta", "its entry is no object"]],
    [VideoFault.NO_FRAME_INFO, ["bad-frame-info", "it has no list frame_info"]],
    [VideoFault.NO_META_DATA, [
      "bad-meta",
      "it has no list meta_data that starts with an object",
    ]],
  ]);

/** What is wrong with entries of `frame_info` that name no place. */
const BROKEN_ENTRIES: ReadonlyMap<number, string> = new Map([
  [
    FrameFault.NO_TRIPLE,
    "its frame_info must be three integers (loc, pad, length)",
  ],
  [
    FrameFault.OUT_OF_RANGE,
    "frame out of range: its frame_info is negative or larger than any frame",
  ],
  [FrameFault.PADDING, "padding exceeds the record in its frame_info"],
]);

/** The error about a frame that cannot be read. */
function frameError(
  meta: ChunkMeta,
  video: number,
  frame: number,
  dataPath: string,
  dataSize: number,
): FormatError {
  const { offset, length } = meta.place(video, frame);
  const id = shownId(meta.id(video));
  const where = `${meta.path}: frame ${frame} of video ${id}`;
  const broken = BROKEN_ENTRIES.get(offset);
  if (broken !== undefined) {
    const facts = { path: meta.path, sample: frame };
    return new FormatError("bad-frame-info", `${where}: ${broken}`, facts);
  }
  const data = basename(dataPath); // beside the meta file, which is named in full
  const facts = {
    path: dataPath,
    offset,
    expected: length,
    actual: Math.max(dataSize - offset, 0),
    sample: frame,
  };
  const isCut = dataSize === 0 || offset < dataSize;
  const what = dataSize === 0
    ? `its frames lie beyond the end of ${data}, which is empty: ` +
      "it is truncated: it was cut; fetch it again"
    : isCut
    ? `the frame lies beyond the end of ${data}: ${length} bytes at ${offset}, ` +
      `where the file has ${dataSize}: it is truncated: it was cut; fetch it again`
    : `frame out of range: it starts at byte ${offset}, but ${data} has ${dataSize}`;
  const code = isCut ? "truncated-data" : "bad-frame-info";
  return new FormatError(code, `${where}: ${what}`, facts);
}

/** The error about an id that two chunks have. */
export function duplicateId(
  meta: ChunkMeta,
  video: number,
  before: ChunkMeta,
): FormatError {
  const id = meta.id(video);
  const shown = /^[\x21-\x7e]{1,100}$/.test(id) ? id : shownId(id);
  return new FormatError(
    "duplicate-id",
    `${meta.path}: duplicate id ${shown}: ${before.path} has it too`,
    { path: meta.path },
  );
}
