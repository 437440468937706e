import { FormatError, RecordfsError } from "../../../errors.ts";
import type { ByteSource } from "../../../io/storage/byte_source.ts";
import type { Storage } from "../../../io/storage/storage.ts";
import type { Steps } from "../../../io/concurrency/steps.ts";
import type { NameTable } from "../../../tree/name_table.ts";
import {
  NameFaultError,
  NameTableBuilder,
} from "../../../tree/name_table_builder.ts";
import { decodeName } from "../../../names.ts";
import type { ChunkListing } from "../read/chunk_files.ts";
import type { ChunkMeta } from "../meta/chunk_meta.ts";
import { DirectoryIndex } from "../read/directory_index.ts";
import { duplicateId, frameError } from "../check/faults.ts";
import { nameOfId } from "../ids/id_names.ts";
import { shared } from "../meta/meta_columns.ts";
import { OpenedChunk } from "../read/opened_chunk.ts";
import { GulpTree } from "./tree.ts";

/** A tree, and what it was made from. */
export interface OpenedTree {
  readonly tree: GulpTree;
  readonly chunks: readonly OpenedChunk[];
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
 * @param onProblem Told of each file and video that is left out, and why.
 * @throws {FormatError} If there are chunks and none can be opened.
 */
export function* openTree(
  listing: ChunkListing,
  storage: Storage,
  onProblem: (problem: RecordfsError) => void,
): Steps<OpenedTree> {
  const problems: RecordfsError[] = [...listing.problems];
  const chunks: OpenedChunk[] = [];
  let labels: ByteSource | undefined;
  try {
    for (const { dataPath, metaPath } of listing.chunks) {
      const chunk = yield* attempt(
        OpenedChunk.open(dataPath, metaPath, { storage }),
      );
      if (chunk instanceof OpenedChunk) chunks.push(chunk);
      else problems.push(chunk);
    }
    if (chunks.length === 0 && problems[0] !== undefined) throw problems[0];
    problems.forEach(onProblem);
    if (listing.labelPath !== undefined) {
      const source = yield* attempt(storage.open(listing.labelPath));
      if (source instanceof RecordfsError) onProblem(source);
      else labels = source;
    }
    return build(chunks, problems.length, labels, onProblem);
  } catch (error) {
    for (const chunk of chunks) chunk.close();
    labels?.close();
    throw error;
  }
}

/** What a procedure ends in; an error of ours is an answer as well. */
function* attempt<T>(steps: Steps<T>): Steps<T | RecordfsError> {
  try {
    return yield* steps;
  } catch (error) {
    if (error instanceof RecordfsError) return error;
    throw error;
  }
}

function build(
  chunks: readonly OpenedChunk[],
  badChunks: number,
  labels: ByteSource | undefined,
  onProblem: (problem: RecordfsError) => void,
): OpenedTree {
  const index = new DirectoryIndex();
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
    const twice = new Set<number>();
    index.add(meta, (video, before) => {
      twice.add(video);
      onProblem(duplicateId(meta, video, chunks[before.chunk]!.meta));
    });
    for (let video = 0; video < meta.length; video++) {
      if (twice.has(video)) continue;
      const fault = firstFault(chunk, video);
      if (fault !== undefined) {
        onProblem(fault);
        continue;
      }
      const name = nameOfId(idBytes(meta, video));
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
  const { offsets, lengths, pads, firstFrames, frameCounts } = meta.columns;
  const first = firstFrames[video]!;
  const count = frameCounts[video]!;
  for (let frame = 0; frame < count; frame++) {
    const offset = offsets[first + frame]!;
    const end = offset + lengths[first + frame]! - pads[first + frame]!;
    if (offset >= 0 && end <= dataSize) continue;
    return frameError(meta, video, frame, dataPath, dataSize);
  }
  return undefined;
}
