import * as fs from "node:fs";
import { runAsync, type Steps } from "../../../io/concurrency/steps.ts";
import type {
  AdapterRecipe,
  ChunkSlice,
  DatasetAdapter,
} from "../adapters/dataset_adapter.ts";
import { GulpChunk } from "../read/chunk.ts";
import type { ChunkPaths } from "../read/chunk_files.ts";
import { type FailedVideo, writeVideos } from "../write/chunk_writer.ts";
import { openMeta } from "../meta/open_meta.ts";
import type { NumberedReport } from "./ingest_journal.ts";
import type { SerializedError } from "../../../base/serialized_error.ts";

/** A chunk to be written. */
export interface ChunkJob extends ChunkPaths {
  /** Its videos. */
  readonly slice: ChunkSlice;
  /** The ids that are added to the chunk, which is there; all are written to a new one without it. */
  readonly only?: ReadonlySet<string> | undefined;
}

/** What is told while chunks are written, in whatever thread. */
export interface ChunkEvents {
  /** Frames were written. */
  frames(count: number, bytes: number): void;
  /** A video is over. */
  video(failed: FailedVideo | undefined): void;
  /** A chunk is gathered, and about to be finished; rejects where an id is there already. */
  ids(ids: readonly string[]): Promise<void>;
}

/** Writes one chunk. */
export async function ingestChunk(
  adapter: DatasetAdapter,
  job: ChunkJob,
  events: ChunkEvents,
  signal: AbortSignal | undefined,
): Promise<NumberedReport> {
  const { dataPath, metaPath, number, slice, only } = job;
  using chunk = await GulpChunk.load(dataPath, metaPath, { decode: false });
  const report = await writeVideos(adapter, chunk, slice, only, {
    signal,
    onFrame: (bytes) => events.frames(1, bytes),
    onVideo: events.video,
    onIds: events.ids,
  });
  if (only === undefined) return { chunk: number, ...report };
  const whole = await runAsync(reportOf(job, undefined));
  return { ...whole, failed: report.failed };
}

/**
 * What a chunk that is there has.
 *
 * @param ids The ids of all videos of the ingest, where the adapter knows them.
 */
export function* reportOf(
  { number, slice, dataPath, metaPath }: ChunkJob,
  ids: readonly string[] | undefined,
): Steps<NumberedReport> {
  const meta = yield* openMeta(metaPath);
  meta.close();
  const wanted = ids?.slice(slice.start, slice.stop) ?? [];
  const failed = wanted.filter((id) => meta.find(id) < 0).map((id) => ({
    id,
    reason: "it failed before the ingest was resumed",
  }));
  return {
    chunk: number,
    videos: meta.length,
    frames: meta.frameCount,
    bytes: fs.statSync(dataPath).size,
    failed,
  };
}

/** What an ingesting thread is told. */
export type ToWorker =
  | {
    readonly kind: "adapter";
    readonly recipe: AdapterRecipe;
    /** Whether it is the one of several threads that says what all of them could. */
    readonly isFirst: boolean;
  }
  | { readonly kind: "chunk"; readonly job: ChunkJob }
  /** The ids it asked about are new, or an error says which is not. */
  | { readonly kind: "ids"; readonly error: SerializedError | undefined }
  /** Give up what is under way. */
  | { readonly kind: "abort" };

/** What an ingesting thread tells. */
export type FromWorker =
  /** The adapter is made. */
  | { readonly kind: "ready"; readonly length: number }
  | { readonly kind: "frames"; readonly count: number; readonly bytes: number }
  | { readonly kind: "video"; readonly failed: FailedVideo | undefined }
  | {
    readonly kind: "ids";
    readonly chunk: number;
    readonly ids: readonly string[];
  }
  | { readonly kind: "chunk"; readonly report: NumberedReport }
  /** What it was told to do has failed, or was given up. */
  | {
    readonly kind: "failed";
    /** Of a chunk; of making the adapter otherwise. */
    readonly chunk: number | undefined;
    readonly error: SerializedError;
  };
