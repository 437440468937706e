import { FormatError, RecordfsError } from "../../../base/errors.ts";
import type { ByteSource } from "../../../io/storage/byte_source.ts";
import type { Storage } from "../../../io/storage/storage.ts";
import type { Steps } from "../../../io/concurrency/steps.ts";
import type { NameTable } from "../../../tree/names/name_table.ts";
import {
  NameFaultError,
  NameTableBuilder,
} from "../../../tree/names/name_table_builder.ts";
import { decodeName } from "../../../base/names.ts";
import type { ChunkListing } from "../read/chunk_files.ts";
import type { ChunkMeta } from "../meta/chunk_meta.ts";
import { openChunks } from "../read/directory_index.ts";
import { nameOfId } from "../ids/id_names.ts";
import { shared } from "../meta/meta_columns.ts";
import type { OpenedChunk } from "../read/opened_chunk.ts";
import { GulpTree } from "./tree.ts";
import { openFile } from "../../../io/storage/open_file.ts";

/** A tree, and what it was made from. */
export interface OpenedTree {
  readonly tree: GulpTree;
  readonly chunks: readonly OpenedChunk[];
  /** The file of labels, where it is there and could be opened. */
  readonly labels: ByteSource | undefined;
  /** How many videos are shown, and how many frames they have. */
  readonly videos: number;
  readonly frames: number;
  /** How many videos of the chunks are left out. */
  readonly badVideos: number;
  /** How many chunks are left out, and files that are none. */
  readonly badChunks: number;
}

/**
 * Opens all sound chunks of a listing as one tree. A video is shown where all of it can be read; of
 * two with the same id, the first.
 *
 * @param onProblem Called with each file and video that is skipped: why, and the name of the video's directory, if it
 * is one.
 * @throws {FormatError} If there are chunks and none can be opened.
 */
export function* openTree(
  listing: ChunkListing,
  storage: Storage,
  onProblem: OnProblem,
): Steps<OpenedTree> {
  const { labelPath } = listing;
  const problems: RecordfsError[] = [...listing.problems];
  const twice: VideoFaults = [];
  const note = (error: unknown) => {
    if (!(error instanceof RecordfsError)) throw error;
    problems.push(error);
  };
  const { chunks } = yield* openChunks(
    listing.chunks,
    { storage },
    note,
    (error, { chunk, video }) => (twice[chunk] ??= new Map()).set(video, error),
  );
  let labels: ByteSource | undefined;
  try {
    if (chunks.length === 0 && problems[0] !== undefined) throw problems[0];
    for (const problem of problems) onProblem(problem);
    try {
      if (labelPath !== undefined) labels = yield* openFile(storage, labelPath);
    } catch (error) {
      if (!(error instanceof RecordfsError)) throw error;
      onProblem(error);
    }
    return build(chunks, twice, problems.length, labels, onProblem);
  } catch (error) {
    for (const chunk of chunks) chunk.close();
    labels?.close();
    throw error;
  }
}

type OnProblem = (problem: RecordfsError, video?: Uint8Array) => void;

/** Per chunk: what is wrong with videos of it. */
type VideoFaults = (Map<number, FormatError> | undefined)[];

function build(
  chunks: readonly OpenedChunk[],
  twice: VideoFaults,
  badChunks: number,
  labels: ByteSource | undefined,
  onProblem: OnProblem,
): OpenedTree {
  const chunkOf: number[] = [];
  const videoOf: number[] = [];
  const filesBefore = [0];
  const total = chunks.reduce((sum, { meta }) => sum + meta.length, 0);
  const names = new NameTableBuilder(
    total,
    new Uint8Array(new SharedArrayBuffer(0)),
  );
  names.nextDirectory();
  chunks.forEach((chunk, number) => {
    const { meta } = chunk;
    for (let video = 0; video < meta.length; video++) {
      const fault = twice[number]?.get(video) ?? firstFault(chunk, video);
      const name = nameOfId(idBytes(meta, video));
      if (fault !== undefined) {
        onProblem(fault, name);
        continue;
      }
      const start = names.intern(name);
      names.addFile(start, start + name.length, videoOf.length);
      chunkOf.push(number);
      videoOf.push(video);
      const frames = meta.columns.frameCounts[video]!;
      filesBefore.push(filesBefore.at(-1)! + frames + 1);
    }
  });
  const sources: ByteSource[] = [
    ...chunks.map(({ data }) => data!),
    ...chunks.map(({ meta }) => meta.text),
    ...(labels === undefined ? [] : [labels]),
  ];
  const tree = new GulpTree({
    chunks: chunks.map(({ meta }) => meta.columns),
    names: finish(names).columns,
    chunkOf: shared(Uint32Array, chunkOf),
    videoOf: shared(Uint32Array, videoOf),
    filesBefore: shared(Float64Array, filesBefore),
    badChunks,
    labelSize: labels?.size ?? -1,
    mtime: sources.reduce((latest, { mtime }) => Math.max(latest, mtime), 0),
  }, sources);
  const videos = videoOf.length;
  return {
    tree,
    chunks,
    labels,
    videos,
    frames: filesBefore.at(-1)! - videos,
    badVideos: total - videos,
    badChunks,
  };
}

/** Names differ unless two long ids have been made to have hashes that start the same. */
function finish(names: NameTableBuilder): NameTable {
  try {
    return names.finish();
  } catch (error) {
    if (!(error instanceof NameFaultError)) throw error;
    const name = JSON.stringify(decodeName(error.bytes));
    throw new FormatError(
      "unsafe-name",
      `Two ids have the same name, ${name}: they are hostile`,
      { cause: error },
    );
  }
}

function idBytes({ ids }: ChunkMeta, video: number): Uint8Array {
  return ids.bytes.subarray(ids.starts[video], ids.starts[video + 1]);
}

/** What keeps a video from being read whole, if anything. */
function firstFault(
  { meta, dataPath, dataSize }: OpenedChunk,
  video: number,
): FormatError | undefined {
  const fault = meta.fault(video);
  if (fault !== undefined) return fault;
  for (let frame = 0; frame < meta.columns.frameCounts[video]!; frame++) {
    const fault = meta.frameFault(video, frame, dataPath, dataSize);
    if (fault !== undefined) return fault;
  }
  return undefined;
}
