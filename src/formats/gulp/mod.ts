/**
 * GulpIO and GulpIO2 containers: `GulpDirectory` and `GulpChunk`, as in Python.
 *
 * @module
 */
export { GulpDirectory } from "./read/directory.ts";
export { GulpChunk } from "./read/chunk.ts";
export type { VideoId } from "./ids/id_text.ts";
export type { FrameOf, GulpOptions, Video } from "./read/decoding.ts";
export type { FrameSelection } from "./read/frame_selection.ts";
export { GrowingMemory as FrameMemory } from "../../io/read/read_memory.ts";
export { UnknownIdError } from "./check/faults.ts";
export type { GulpSerializer, VideoMeta } from "./meta/serializer.ts";
export { type JsonValue, parseJson } from "../../codecs/json/value.ts";
export {
  AbstractDatasetAdapter,
  type AdaptedVideo,
  type ChunkSlice,
  type DatasetAdapter,
} from "./adapters/dataset_adapter.ts";
export type { AdapterOption } from "./adapters/options.ts";
export {
  LabelledAdapter,
  type LabelledVideo,
  ListedAdapter,
  type ListedOptions,
} from "./adapters/listed_adapter.ts";
export type { ImageOptions, VideoOptions } from "./adapters/frame_sources.ts";
export * from "./adapters/custom20bn_adapters.ts";
export * from "./adapters/image_adapters.ts";
export * from "./adapters/video_adapters.ts";
export { makeAdapter } from "./adapters/load_adapter.ts";
export {
  calculateChunkSlices,
  type ChunkReport,
  ChunkWriter,
} from "./write/chunk_writer.ts";
export { GulpIngestor } from "./ingest/gulp_ingestor.ts";
export { IngestError } from "./ingest/ingest_error.ts";
export { repairGulp } from "./check/repair.ts";
