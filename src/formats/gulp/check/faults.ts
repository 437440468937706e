import { basename } from "node:path";
import { FormatError, RecordfsError } from "../../../errors.ts";
import type { ChunkMeta } from "../meta/chunk_meta.ts";
import { FrameFault, VideoFault } from "../meta/meta_columns.ts";

/** Ids are free text: long ones are cut in messages. */
const LONGEST_SHOWN = 100;

/** An id as messages show it. */
export function shownId(id: string): string {
  return JSON.stringify(
    id.length > LONGEST_SHOWN ? `${id.slice(0, LONGEST_SHOWN)}…` : id,
  );
}

/** No video of a GulpIO container has the id that was asked for. */
export class UnknownIdError extends RecordfsError {
  /** The id. */
  readonly id: string;

  /** Makes the error for `id` in the container at `path`. */
  constructor(id: string, path: string) {
    super(
      "unknown-id",
      `There is no video with the id ${shownId(id)} in ${path}`,
      { path },
    );
    this.id = id;
  }
}

/** The error about a video whose entry is not what it should be. */
export function videoError(meta: ChunkMeta, video: number): FormatError {
  const fault = meta.columns.faults[video];
  const what = fault === VideoFault.NO_OBJECT
    ? "its entry is no object"
    : fault === VideoFault.NO_FRAME_INFO
    ? "it has no list frame_info"
    : "it has no list meta_data that starts with an object";
  return new FormatError(
    fault === VideoFault.NO_FRAME_INFO ? "bad-frame-info" : "bad-meta",
    `${meta.path}: video ${shownId(meta.id(video))} cannot be read: ${what}`,
    { path: meta.path },
  );
}

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
export function frameError(
  meta: ChunkMeta,
  video: number,
  frame: number,
  dataPath: string,
  dataSize: number,
): FormatError {
  const { offsets, lengths, pads, firstFrames } = meta.columns;
  const row = firstFrames[video]! + frame;
  const offset = offsets[row]!;
  const length = lengths[row]! - pads[row]!;
  const where = `${meta.path}: frame ${frame} of video ${
    shownId(meta.id(video))
  }`;
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
      "the file was cut; fetch it again"
    : isCut
    ? `the frame lies beyond the end of ${data}: ${length} bytes at ${offset}, ` +
      `where the file has ${dataSize}; it was cut; fetch it again`
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
