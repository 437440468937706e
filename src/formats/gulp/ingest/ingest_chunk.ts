import type {
  ChunkSlice,
  DatasetAdapter,
} from "../adapters/dataset_adapter.ts";
import { GulpChunk } from "../chunk.ts";
import type { ChunkPaths } from "../chunk_files.ts";
import { ChunkWriter, type FailedVideo } from "../chunk_writer.ts";
import type { NumberedReport } from "./ingest_journal.ts";

/** A chunk to be written. */
export interface ChunkJob extends ChunkPaths {
  /** Its videos. */
  readonly slice: ChunkSlice;
}

/** What is told while chunks are written, in whatever thread. */
export interface ChunkEvents {
  /** Frames were written. */
  frames(count: number, bytes: number): void;
  /** A video is over. */
  video(failed: FailedVideo | undefined): void;
  /** A chunk is about to be finished; rejects where an id is there already. */
  ids(ids: readonly string[]): Promise<void>;
}

/** Writes one chunk. */
export async function ingestChunk(
  adapter: DatasetAdapter,
  job: ChunkJob,
  events: ChunkEvents,
  signal: AbortSignal | undefined,
): Promise<NumberedReport> {
  const { dataPath, metaPath, number, slice } = job;
  using chunk = await GulpChunk.load(dataPath, metaPath, { decode: false });
  const report = await new ChunkWriter(adapter).writeChunk(chunk, slice, {
    signal,
    onFrame: (bytes) => events.frames(1, bytes),
    onVideo: events.video,
    onIds: events.ids,
  });
  return { chunk: number, ...report };
}
