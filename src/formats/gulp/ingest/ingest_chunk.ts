import * as fs from "node:fs";
import { runAsync, type Steps } from "../../../io/concurrency/steps.ts";
import type {
  ChunkSlice,
  DatasetAdapter,
} from "../adapters/dataset_adapter.ts";
import type { AdapterRecipe } from "../adapters/load_adapter.ts";
import { GulpChunk } from "../read/chunk.ts";
import type { ChunkPaths } from "../read/chunk_files.ts";
import { type FailedVideo, writeVideos } from "../write/chunk_writer.ts";
import { openMeta } from "../meta/open_meta.ts";
import type { NumberedReport } from "./ingest_journal.ts";
import type { SerializedError } from "../../../base/serialized_error.ts";

export interface ChunkJob extends ChunkPaths {
  readonly slice: ChunkSlice;
  /** Ids to add to an existing chunk; if undefined, all videos are written to a new one. */
  readonly only?: ReadonlySet<string> | undefined;
}

/** Callbacks during the writing of chunks, in any thread. */
export interface ChunkEvents {
  frames(count: number, bytes: number): void;
  /** Called when a video is finished or has failed. */
  video(failed: FailedVideo | undefined): void;
  /** Called when a chunk is gathered, before it is completed; rejects if an id exists already. */
  ids(ids: readonly string[]): Promise<void>;
}

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

/** Reports the content of an existing chunk; `ids` are those of the ingest, if the adapter knows them. */
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

/** Messages to an ingesting thread. */
export type ToWorker =
  | {
    readonly kind: "adapter";
    readonly recipe: AdapterRecipe;
    /** Whether this thread reports what all of them could report. */
    readonly isFirst: boolean;
  }
  | { readonly kind: "chunk"; readonly job: ChunkJob }
  /** The requested ids are new, unless an error names one that is not. */
  | { readonly kind: "ids"; readonly error: SerializedError | undefined }
  | { readonly kind: "abort" };

/** Messages from an ingesting thread. */
export type FromWorker =
  | { readonly kind: "ready"; readonly length: number }
  | { readonly kind: "frames"; readonly count: number; readonly bytes: number }
  | { readonly kind: "video"; readonly failed: FailedVideo | undefined }
  | {
    readonly kind: "ids";
    readonly chunk: number;
    readonly ids: readonly string[];
  }
  | { readonly kind: "chunk"; readonly report: NumberedReport }
  /** The work failed or was aborted. */
  | {
    readonly kind: "failed";
    /** Number of the failed chunk; `undefined` if making the adapter failed. */
    readonly chunk: number | undefined;
    readonly error: SerializedError;
  };
