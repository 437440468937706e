import { FormatError } from "../../../base/errors.ts";
import { decodeName, encodeName } from "../../../base/names.ts";
import type { ByteSource } from "../../../io/storage/byte_source.ts";
import type { NameTable } from "../../../tree/names/name_table.ts";
import {
  NameFaultError,
  NameTableBuilder,
} from "../../../tree/names/name_table_builder.ts";
import { sharedFloat64, sharedUint32 } from "../../../tree/shared_numbers.ts";
import { nameOfId } from "../ids/id_names.ts";
import { LABEL_FILE } from "../read/chunk_files.ts";
import type { GulpSamples } from "../read/gulp_samples.ts";
import type { OpenedChunk } from "../read/opened_chunk.ts";
import { GulpTree } from "./tree.ts";

export interface ShownTree {
  readonly tree: GulpTree;
  readonly chunks: readonly OpenedChunk[];
  /** Numbers of videos shown, and of their frames. */
  readonly videos: number;
  readonly frames: number;
  /** Number of skipped videos. */
  readonly badVideos: number;
}

/**
 * Makes the tree of the videos that can be read completely. `twice` has the faults of duplicate ids, by index. Calls
 * `onFault` with the fault and the directory name of each skipped video.
 */
export function makeTree(
  { shards: { shards: chunks, firsts, length } }: GulpSamples,
  labels: ByteSource | undefined,
  twice: ReadonlyMap<number, FormatError>,
  onFault: (fault: FormatError, name: Uint8Array) => void,
): ShownTree {
  const chunkOf: number[] = [];
  const videoOf: number[] = [];
  const filesBefore = [0];
  const names = new NameTableBuilder(
    length + 1,
    new Uint8Array(new SharedArrayBuffer(0)),
  );
  names.nextDirectory();
  const addName = (name: Uint8Array) => {
    const start = names.intern(name);
    names.addFile(start, start + name.length, 0);
  };
  if (labels !== undefined) addName(encodeName(LABEL_FILE));
  for (const [at, chunk] of chunks.entries()) {
    const { columns, ids: { bytes, starts } } = chunk.meta;
    for (let video = 0; video < chunk.meta.length; video++) {
      const fault = twice.get(firsts[at]! + video) ?? chunk.faultOf(video);
      const id = bytes.subarray(starts[video], starts[video + 1]);
      const name = nameOfId(id);
      if (fault !== undefined) {
        onFault(fault, name);
        continue;
      }
      addName(name);
      chunkOf.push(at);
      videoOf.push(video);
      const frames = columns.frameCounts[video]!;
      filesBefore.push(filesBefore.at(-1)! + frames + 1);
    }
  }
  const sources: ByteSource[] = [
    ...chunks.map(({ data }) => data!),
    ...chunks.map(({ meta }) => meta.text),
    ...(labels === undefined ? [] : [labels]),
  ];
  const tree = new GulpTree({
    chunks: chunks.map(({ meta }) => meta.columns),
    names: finish(names).columns,
    chunkOf: sharedUint32(chunkOf),
    videoOf: sharedUint32(videoOf),
    filesBefore: sharedFloat64(filesBefore),
    labelSize: labels?.size ?? -1,
    mtime: sources.reduce((latest, { mtime }) => Math.max(latest, mtime), 0),
  }, sources);
  const videos = videoOf.length;
  const frames = filesBefore.at(-1)! - videos;
  return { tree, chunks, videos, frames, badVideos: length - videos };
}

/** Names differ, unless two long ids were made to have hashes with the same start. */
function finish(names: NameTableBuilder): NameTable {
  try {
    return names.finish();
  } catch (error) {
    if (!(error instanceof NameFaultError)) throw error;
    const name = JSON.stringify(decodeName(error.bytes));
    throw new FormatError(
      "unsafe-name",
      `Cannot show two ids that have the same name, ${name}: they are ` +
        "hostile",
      { cause: error },
    );
  }
}
