import { basename } from "node:path";
import { jsonItems } from "../../../codecs/json/parts.ts";
import { type JsonValue, parseJson } from "../../../codecs/json/value.ts";
import { FormatError } from "../../../base/errors.ts";
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

/** Location of a frame's JPEG, without padding. */
export interface FramePlace {
  readonly offset: number;
  readonly length: number;
}

/** First item of a video's meta_data. */
export type VideoFields = { [key: string]: JsonValue };

/** A {@linkcode ChunkMeta} for other threads: plain data, and tables in shared memory. */
export interface SharedMeta extends KnownFile {
  readonly columns: MetaColumns;
  readonly ids: IdColumns;
  /** Text with meta_data if it is in memory, and not read from the file. */
  readonly text: Uint8Array | undefined;
}

/**
 * Content of a chunk's `.gmeta`, with videos numbered in file order from 0. meta_data is not cached: it is read again
 * from the file, or from memory if the file is not JSON.
 */
export class ChunkMeta {
  readonly path: string;
  /** Size of the `.gmeta` file in bytes. */
  readonly size: number;
  readonly columns: MetaColumns;
  readonly ids: VideoIds;
  /** JSON text that holds meta_data. */
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

  /** Makes the meta from what another thread has read; `file` is open if meta_data is read from it. */
  static reopen(
    { path, size, mtime, columns, ids, text }: SharedMeta,
    file: ByteSource | undefined,
  ): ChunkMeta {
    const source = file ?? new MemorySource(text!, path, mtime);
    const read = { columns, ids: VideoIds.of(ids) };
    return new ChunkMeta(path, size, read, source);
  }

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

  get length(): number {
    return this.columns.faults.length;
  }

  get frameCount(): number {
    return this.columns.frameCounts.reduce((sum, count) => sum + count, 0);
  }

  id(video: number): string {
    return this.ids.id(video);
  }

  /** Returns the video with an id, or -1. */
  find(id: string): number {
    return this.ids.find(id);
  }

  /** Returns the location of a frame's JPEG; meaningful only if the frame has no fault. */
  place(video: number, frame: number): FramePlace {
    const { offsets, lengths, pads, firstFrames } = this.columns;
    const row = firstFrames[video]! + frame;
    return { offset: offsets[row]!, length: lengths[row]! - pads[row]! };
  }

  /** Returns what prevents reading a frame, if anything; `dataPath` is for messages. */
  frameFault(
    video: number,
    frame: number,
    dataPath: string,
    dataSize: number,
  ): FormatError | undefined {
    const { offsets, lengths, pads, firstFrames } = this.columns;
    const row = firstFrames[video]! + frame;
    const end = offsets[row]! + lengths[row]! - pads[row]!;
    // Padding missing at the end of the file does not damage the frame.
    const isThere = offsets[row]! >= 0 && end <= dataSize;
    return isThere
      ? undefined
      : frameError(this, video, frame, dataPath, dataSize);
  }

  /** Returns the fault of a video as a whole, if any. */
  fault(video: number): FormatError | undefined {
    const found = VIDEO_FAULTS.get(this.columns.faults[video]!);
    if (found === undefined) return undefined;
    const [code, what] = found;
    return new FormatError(
      code,
      `Cannot read video ${shownId(this.id(video))} of ${this.path}: ` +
        `${what}`,
      { path: this.path },
    );
  }

  /** Reads the first item of a video's meta_data; throws FormatError if there is none, or the file has changed. */
  *readMeta(video: number): Steps<VideoFields> {
    const { offset, length } = this.metaPlace(video);
    return this.parseMeta(video, yield* readPart(this.text, offset, length));
  }

  /** Returns the location of a video's first meta_data item in the text; throws FormatError if there is none. */
  metaPlace(video: number): FramePlace {
    const { faults, metaStarts, metaLengths } = this.columns;
    if (faults[video] === VideoFault.NO_META_DATA) throw this.fault(video)!;
    return { offset: metaStarts[video]!, length: metaLengths[video]! };
  }

  /** Parses the first item of a video's meta_data; throws FormatError if the file has changed. */
  parseMeta(video: number, bytes: Uint8Array): VideoFields {
    return this.#parse(video, bytes, parseJson) as VideoFields;
  }

  /** Prefetches what {@linkcode ChunkMeta.readMeta} will read. */
  prefetchMeta(video: number): void {
    const { metaStarts, metaLengths } = this.columns;
    this.text.prefetch?.(metaStarts[video]!, metaLengths[video]!);
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
        `Cannot read the meta_data at byte ${start} of ${this.path}: ` +
          `${(cause as Error).message}`,
        { path: this.path, offset: start, cause },
      );
    }
  }
}

/** Video faults by their number in the column. */
const VIDEO_FAULTS: ReadonlyMap<
  number,
  readonly [FormatError["code"], string]
> = new Map([
  [VideoFault.NO_OBJECT, ["bad-meta", "its entry is not an object"]],
  [VideoFault.NO_FRAME_INFO, ["bad-frame-info", "it has no list frame_info"]],
  [VideoFault.NO_META_DATA, [
    "bad-meta",
    "it has no list meta_data that starts with an object",
  ]],
]);

/** Faults of `frame_info` entries without a location. */
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

function frameError(
  meta: ChunkMeta,
  video: number,
  frame: number,
  dataPath: string,
  dataSize: number,
): FormatError {
  const { offset, length } = meta.place(video, frame);
  const id = shownId(meta.id(video));
  const where = `Cannot read frame ${frame} of video ${id} of ${meta.path}`;
  const broken = BROKEN_ENTRIES.get(offset);
  if (broken !== undefined) {
    const facts = { path: meta.path, sample: frame };
    return new FormatError("bad-frame-info", `${where}: ${broken}`, facts);
  }
  const data = basename(dataPath); // in the directory of the meta file, which is named in full
  const facts = {
    path: dataPath,
    offset,
    expected: length,
    actual: Math.max(dataSize - offset, 0),
    sample: frame,
  };
  const isCut = dataSize === 0 || offset < dataSize;
  const what = dataSize === 0
    ? `its frames lie beyond the end of ${data}, which is empty: it is ` +
      "truncated. Download it again"
    : isCut
    ? `the frame lies beyond the end of ${data}: ${length} bytes at ${offset}, ` +
      `where the file has ${dataSize}: it is truncated. Download it again`
    : `frame out of range: it starts at byte ${offset}, but ${data} has ${dataSize}`;
  const code = isCut ? "truncated-data" : "bad-frame-info";
  return new FormatError(code, `${where}: ${what}`, facts);
}

export function duplicateId(
  meta: ChunkMeta,
  video: number,
  before: ChunkMeta,
): FormatError {
  const id = meta.id(video);
  const shown = /^[\x21-\x7e]{1,100}$/.test(id) ? id : shownId(id);
  return new FormatError(
    "duplicate-id",
    `Cannot read ${meta.path}: duplicate id ${shown}: ${before.path} ` +
      "has it too",
    { path: meta.path },
  );
}
