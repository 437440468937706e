import type { AdapterRecipe } from "../adapters/dataset_adapter.ts";
import type { FailedVideo } from "../write/chunk_writer.ts";
import type { ChunkJob } from "./ingest_chunk.ts";
import type { NumberedReport } from "./ingest_journal.ts";
import type { SerializedError } from "../../../serialized_error.ts";

/** What an ingesting thread is told. */
export type ToWorker =
  | { readonly kind: "adapter"; readonly recipe: AdapterRecipe }
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
  | { readonly kind: "ids"; readonly ids: readonly string[] }
  | { readonly kind: "chunk"; readonly report: NumberedReport }
  /** What it was told to do has failed, or was given up. */
  | { readonly kind: "failed"; readonly error: SerializedError };
